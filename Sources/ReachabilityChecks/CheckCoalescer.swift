internal import Locks
internal import NetworkReachability
internal import ReachabilityModel

/// Combines equal checks: stores the checks in progress with their waiting callers, and caches the last outcomes.
final class CheckCoalescer: Sendable {
  typealias Completion = @Sendable (CheckOutcome) -> Void

  private struct State {
    var running: [CheckRequest: SharedCheck] = [:]
    var cache = CheckResultCache()
  }

  private let state = Locked(State())

  /// The source of a request's outcome.
  enum Admission {
    case cached(CheckOutcome)
    /// A check in progress, which the caller has joined.
    case joined(any CheckCancellation)
    /// A new check, which the caller must start.
    case new(SharedCheck, any CheckCancellation)
  }

  /// Returns a cached outcome, or adds the caller to the check in progress or to a new one.
  func join(_ request: CheckRequest, _ maximumAge: Duration, _ completion: @escaping Completion) -> Admission {
    state.withLock { state in
      if maximumAge > .zero, let outcome = state.cache.outcome(of: request, maximumAge) { return .cached(outcome) }
      if let check = state.running[request], let number = check.join(completion) {
        return .joined(Waiter(coalescer: self, check: check, number: number))
      }
      let check = SharedCheck(request)
      state.running[request] = check
      return .new(check, Waiter(coalescer: self, check: check, number: check.join(completion) ?? 0))
    }
  }

  /// Creates a check for one caller: no other caller joins it, and its outcome is not cached.
  func begin(_ request: CheckRequest, _ completion: @escaping Completion) -> (SharedCheck, any CheckCancellation) {
    let check = SharedCheck(request, isShared: false)
    return (check, Waiter(coalescer: self, check: check, number: check.join(completion) ?? 0))
  }

  /// Prevents further callers from joining a check: the prober has finished, so later callers need a new result.
  func close(_ check: SharedCheck) { remove(check) }

  /// Ends a check whose result was determined at `instant`, and calls all completions.
  func finish(_ check: SharedCheck, _ outcome: CheckOutcome, at instant: ContinuousClock.Instant) {
    // An outcome for which no caller waits may be older than the cached one.
    guard let completions = check.end() else { return remove(check) }
    if check.isShared { remove(check) { $0.cache.insert(outcome, instant) } }
    for completion in completions { completion(outcome) }
  }

  private func remove(_ check: SharedCheck, _ more: (inout State) -> Void = { _ in }) {
    guard check.isShared else { return }
    state.withLock { state in
      if state.running[check.request] === check { state.running[check.request] = nil }
      more(&state)
    }
  }

  private struct Waiter: CheckCancellation {
    let coalescer: CheckCoalescer
    let check: SharedCheck
    let number: Int

    func cancel() {
      let (completion, cancellation) = check.leave(number)
      if cancellation != nil { coalescer.remove(check) }
      let result = CheckResult(.unknown, .cancelled, startedAt: .now, duration: .zero)
      completion?(CheckOutcome(request: check.request, result: result))
      cancellation?.cancel()
    }
  }
}

/// One check in progress and the callers that wait for it.
final class SharedCheck: Sendable {
  let request: CheckRequest
  /// Whether other callers may join it.
  let isShared: Bool

  private struct State {
    /// In the order of arrival; nil for callers that left.
    var waiting: [CheckCoalescer.Completion?] = []
    /// Ends the check, once it was started.
    var cancellation: (any CheckCancellation)?
    /// The check has ended, or its last caller left.
    var isOver = false
  }

  private let state = Locked(State())

  init(_ request: CheckRequest, isShared: Bool = true) {
    self.request = request
    self.isShared = isShared
  }

  /// Adds a caller; nil when the check is over.
  func join(_ completion: @escaping CheckCoalescer.Completion) -> Int? {
    state.withLock { state in
      guard !state.isOver else { return nil }
      state.waiting.append(completion)
      return state.waiting.count - 1
    }
  }

  /// Stores the cancellation of the started check; cancels it immediately if its last caller has already left.
  func didStart(_ cancellation: any CheckCancellation) {
    let isOver = state.withLock { state in
      if !state.isOver { state.cancellation = cancellation }
      return state.isOver
    }
    if isOver { cancellation.cancel() }
  }

  /// Removes a caller, and returns its completion; the cancellation is nil unless it was the last caller.
  func leave(_ number: Int) -> (CheckCoalescer.Completion?, (any CheckCancellation)?) {
    state.withLock { state in
      guard !state.isOver, let completion = state.waiting[number] else { return (nil, nil) }
      state.waiting[number] = nil
      guard state.waiting.allSatisfy({ $0 == nil }) else { return (completion, nil) }
      state.isOver = true
      defer { state.cancellation = nil }
      return (completion, state.cancellation ?? NotStarted())
    }
  }

  /// Ends the check, and returns the completions of its callers; nil if it was over already.
  func end() -> [CheckCoalescer.Completion]? {
    state.withLock { state in
      defer { state = State(isOver: true) }
      return state.isOver ? nil : state.waiting.compactMap(\.self)
    }
  }
}

/// The cancellation of a check that was not started: ``SharedCheck/didStart(_:)`` ends it.
private struct NotStarted: CheckCancellation {
  func cancel() {}
}
