internal import EventLoop
internal import ReachabilityModel

/// Decides which address of a host is contacted next, and when (RFC 8305 §5): a value without sockets and clocks.
///
/// Addresses are contacted in the resolver's order, without the interleaving of families of RFC 8305: the resolver has sorted
/// them (RFC 6724). An attempt starts some time after the last one, or when the last one fails. The first address that answers
/// ends the attempts.
struct AddressAttempts: Equatable {
  /// What to do now.
  enum Step: Equatable {
    /// Contact the address with this index.
    case start(Int)
    /// Wait for an attempt, or until this time.
    case wait(until: MonotonicInstant?)
    /// All addresses failed; the result is that of the address with this index.
    case failed(Int)
  }

  private enum Attempt: Equatable {
    case running
    case failed(CheckResult.State)
  }

  let count: Int
  private let delay: Duration
  /// The attempts, by the index of their address; those of the other addresses have not started.
  private var attempts: [Attempt] = []
  /// When the next one starts, unless no attempt runs.
  private var nextStart: MonotonicInstant?

  /// Creates the state before the first attempt.
  ///
  /// - Parameters:
  ///   - count: the number of addresses.
  ///   - remaining: the time of the check, in which every address is contacted.
  init(count: Int, within remaining: Duration) {
    self.count = count
    delay = max(Limits.shortestAttemptDelay, min(Limits.attemptDelay, remaining / max(1, count)))
  }

  private var isAnyRunning: Bool { attempts.contains(.running) }

  /// What to do at `now`.
  func step(at now: MonotonicInstant) -> Step {
    guard attempts.count < count else { return isAnyRunning ? .wait(until: nil) : .failed(leadingFailure) }
    if isAnyRunning, let nextStart, nextStart > now { return .wait(until: nextStart) }
    return .start(attempts.count)
  }

  /// Records that the attempt of the last ``Step/start(_:)`` has started.
  mutating func started(at now: MonotonicInstant) {
    attempts.append(.running)
    nextStart = now.advanced(by: delay)
  }

  /// Records that the attempt of the last ``Step/start(_:)`` cannot start yet.
  mutating func postponed(at now: MonotonicInstant) { nextStart = now.advanced(by: delay) }

  /// Records that an attempt has failed to contact its address; after that of the last one, the next one starts.
  mutating func failed(_ index: Int, _ state: CheckResult.State) {
    attempts[index] = .failed(state)
    if index == attempts.count - 1 { nextStart = nil }
  }

  /// The failure that describes the host: an unknown result may be a success, and one that is `down` proves more about the host
  /// than a missing route does.
  var leadingFailure: Int {
    let order: [CheckResult.State] = [.unknown, .down, .unreachable]
    return order.lazy.compactMap { attempts.firstIndex(of: .failed($0)) }.first ?? 0
  }
}
