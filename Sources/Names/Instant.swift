internal import CAres
internal import Glibc

/// A moment of CLOCK_MONOTONIC, which stands still while the machine sleeps (clock_gettime(2)).
///
/// The moments of `SuspendingClock`, in one word: the library's own type is opaque to the compiler, and whatever holds
/// one is copied by calls at run time. A check holds six of them.
package struct Instant: Hashable, Comparable, Sendable {
  /// Since the clock's own zero.
  package var nanoseconds: Int64

  /// The moment that lies so far from the clock's own zero.
  @inlinable package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// This moment.
  package static var now: Instant {
    var moment = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &moment)
    return Instant(nanoseconds: Int64(moment.tv_sec) * 1_000_000_000 + Int64(moment.tv_nsec))
  }

  /// Later, or earlier; as far as the clock goes.
  @inlinable package func advanced(by duration: Duration) -> Instant {
    let (sum, isBeyond) = nanoseconds.addingReportingOverflow(duration.wholeNanoseconds)
    return Instant(nanoseconds: isBeyond ? (duration < .zero ? .min : .max) : sum)
  }

  /// How much later another moment is.
  @inlinable package func duration(to other: Instant) -> Duration { .nanoseconds(other.nanoseconds - nanoseconds) }

  @inlinable package static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }
}

extension Duration {
  /// Rounded towards zero; at most 292 years.
  @inlinable package var wholeNanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, isBeyond) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    guard !isBeyond else { return seconds < 0 ? .min : .max }
    let (sum, isJustBeyond) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
    return isJustBeyond ? (seconds < 0 ? .min : .max) : sum
  }
}
