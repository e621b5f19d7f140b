internal import Locks
public import ReachabilityModel

/// A scripted prober: the test double for `Prober`, for code that uses `ReachabilityChecks`.
///
/// ```swift
/// let prober = ScriptedProber { request in .init(.up, startedAt: .init(microseconds: 0), duration: .milliseconds(1)) }
/// let checker = Checker(monitor: monitor, prober: prober)
/// ```
///
/// With a rule, checks end on the caller's thread before ``check(_:_:)`` returns. Without one they wait for ``answer(_:)``.
public final class ScriptedProber: Prober {
  private struct State {
    var rule: (@Sendable (CheckRequest) -> CheckResult?)?
    var requests: [CheckRequest] = []
    var open: [(number: Int, request: CheckRequest, completion: @Sendable (CheckResult) -> Void)] = []
  }

  private let state: Locked<State>

  /// A prober with a rule; checks wait without one, and when it returns nil.
  public init(_ rule: (@Sendable (CheckRequest) -> CheckResult?)? = nil) {
    state = Locked(State(rule: rule))
  }

  /// Every request so far, in order.
  public var requests: [CheckRequest] { state.withLock(\.requests) }

  /// The requests that wait for an answer, in order.
  public var open: [CheckRequest] { state.withLock { $0.open.map(\.request) } }

  /// Sets the rule for further requests.
  public func follow(_ rule: (@Sendable (CheckRequest) -> CheckResult?)?) {
    state.withLock { $0.rule = rule }
  }

  /// Ends every waiting check by this rule; those for which it returns nil continue to wait.
  public func answer(_ rule: (CheckRequest) -> CheckResult?) {
    let waiting = state.withLock { state in
      defer { state.open = [] }
      return state.open
    }
    for entry in waiting {
      if let result = rule(entry.request) {
        entry.completion(result)
      } else {
        state.withLock { $0.open.append(entry) }
      }
    }
  }

  /// Records the request, and ends it immediately if the rule returns a result.
  public func check(
    _ request: CheckRequest, _ completion: @escaping @Sendable (CheckResult) -> Void
  ) -> any CheckCancellation {
    let (number, rule) = state.withLock { state in
      state.requests.append(request)
      return (state.requests.count, state.rule)
    }
    if let result = rule?(request) {
      completion(result)
    } else {
      state.withLock { $0.open.append((number, request, completion)) }
    }
    return Cancellation(prober: self, number: number)
  }

  private func cancel(_ number: Int) {
    let completion = state.withLock { state in
      state.open.firstIndex { $0.number == number }.map { state.open.remove(at: $0).completion }
    }
    completion?(CheckResult(.unknown, .cancelled, startedAt: Timestamp(microseconds: 0), duration: .zero))
  }

  private struct Cancellation: CheckCancellation {
    let prober: ScriptedProber
    let number: Int

    func cancel() { prober.cancel(number) }
  }
}
