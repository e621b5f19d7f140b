internal import Glibc

/// A time of CLOCK_MONOTONIC, which does not advance while the machine sleeps (clock_gettime(2)).
///
/// It has the instants of `SuspendingClock` in one 64-bit word. The standard library's own type is opaque to the
/// compiler, so that every copy of a structure that contains one is a call at run time.
public struct MonotonicInstant: InstantProtocol {
  /// Nanoseconds since the zero of the clock.
  public var nanoseconds: Int64

  /// The instant `nanoseconds` after the zero of the clock.
  @inlinable public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// The current time.
  public static var now: MonotonicInstant { MonotonicInstant(nanoseconds: SystemClock.nanoseconds(CLOCK_MONOTONIC)) }

  /// The duration from the zero of the clock to this instant.
  @inlinable public var sinceZero: Duration { .nanoseconds(nanoseconds) }

  /// The instant that is `duration` later; saturates at the limits of the clock.
  @inlinable public func advanced(by duration: Duration) -> MonotonicInstant {
    advanced(byNanoseconds: duration.wholeNanoseconds)
  }

  /// The instant that is `span` nanoseconds later; saturates at the limits of the clock.
  ///
  /// For spans that are added often: a `Duration` has 128 bits.
  @inlinable public func advanced(byNanoseconds span: Int64) -> MonotonicInstant {
    let (sum, overflow) = nanoseconds.addingReportingOverflow(span)
    return MonotonicInstant(nanoseconds: overflow ? (span < 0 ? .min : .max) : sum)
  }

  /// The duration from this instant to another one; negative if that one is earlier.
  ///
  /// Saturates at 292 years.
  @inlinable public func duration(to other: MonotonicInstant) -> Duration {
    let (span, overflow) = other.nanoseconds.subtractingReportingOverflow(nanoseconds)
    return .nanoseconds(overflow ? (other < self ? .min : .max) : span)
  }

  /// Whether the first instant is earlier than the second.
  @inlinable public static func < (left: MonotonicInstant, right: MonotonicInstant) -> Bool {
    left.nanoseconds < right.nanoseconds
  }
}

extension Duration {
  /// The duration in nanoseconds, rounded towards zero; saturates at 292 years.
  @inlinable public var wholeNanoseconds: Int64 {
    Int64(clamping: attoseconds / 1_000_000_000)
  }

  /// The duration in nanoseconds, not negative and at most a century, so that sums with it do not overflow.
  package var nanoseconds: Int64 { min(max(wholeNanoseconds, 0), 3_155_760_000 * 1_000_000_000) }
}
