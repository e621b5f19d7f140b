/// Whether this process itself stood still: stopped by a signal, suspended with the machine, or starved.
///
/// A check whose deadline passed meanwhile says nothing about its target: the answer may lie in the socket.
struct StallWatch {
  /// The last sign of life; nil while nothing is under way that could be wronged.
  private var lastSign: Duration?
  /// When the last stall was noticed.
  private(set) var end: Duration?

  /// Notes a sign of life: the timer that runs while checks are under way, or the end of a check.
  mutating func sign(at now: Duration) {
    if let lastSign, now - lastSign > Limits.stall { end = now }
    lastSign = now
  }

  /// Nothing is under way any more: silence is rest.
  mutating func rest() { lastSign = nil }

  /// Whether what began at `start` went through a stall.
  func covers(_ start: Duration) -> Bool { end.map { start < $0 } ?? false }
}
