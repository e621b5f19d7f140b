internal import Glibc

/// The clocks of the kernel that have no type of their own, in nanoseconds (clock_gettime(2)).
package enum SystemClock {
  /// CLOCK_REALTIME: since 1970-01-01T00:00:00Z; it jumps when the time of day is set.
  package static var realtime: Int64 { nanoseconds(CLOCK_REALTIME) }

  /// CLOCK_BOOTTIME: like CLOCK_MONOTONIC, and it advances while the machine sleeps.
  package static var boottime: Int64 { nanoseconds(CLOCK_BOOTTIME) }

  static func nanoseconds(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    // 64 bits of nanoseconds end in the year 2262.
    let (seconds, isTooLate) = Int64(time.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, overflow) = seconds.addingReportingOverflow(Int64(time.tv_nsec))
    return isTooLate || overflow ? .max : sum
  }
}
