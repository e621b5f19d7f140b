internal import Glibc

/// The CPU time of one thread, which shows other threads whether it makes progress (pthread_getcpuclockid(3)).
public struct ThreadProcessorTime: Sendable {
  private let clock: clockid_t

  /// The clock of the calling thread, which must outlive the reads; nil if the system has none.
  public init?() {
    var clock = clockid_t()
    guard unsafe pthread_getcpuclockid(pthread_self(), &clock) == 0 else { return nil }
    self.clock = clock
  }

  /// Nanoseconds so far.
  public var nanoseconds: Int64 {
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}
