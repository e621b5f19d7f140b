internal import Dispatch
internal import Locks
internal import ReachabilityModel

/// A target to evaluate, and the resolution of its name.
struct OnDemandEvaluationRequest: Sendable {
  var target: ReachabilityTarget
  var resolution: NameResolution
}

/// Evaluates requests whose lookups may wait for the kernel, on a thread of its own, for callers that must not block.
///
/// Requests that arrive while lookups wait are answered together by the next ones. A wait for the kernel's RTNL lock cannot
/// be interrupted, so requests that have waited for ``Limits/lockTimeout`` are completed without it. The callers bound the
/// number of requests: one for each HTTP request or check.
final class OnDemandLookupQueue: Sendable {
  typealias Answer = Swift.Result<HostVerdict, KernelError>

  /// A request and its completion.
  struct Entry: Sendable {
    var request: OnDemandEvaluationRequest
    var completion: @Sendable (Answer) -> Void
  }

  private struct State {
    var waiting: [Entry] = []
    /// The requests whose lookups are in progress; empty after they were completed without the kernel's lock.
    var running: [Entry] = []
    /// When the lookups in progress began.
    var since = ContinuousClock.now
    var isRunning = false
    var hasTimer = false
  }

  private let queue = DispatchQueue(label: "lookups", qos: .userInitiated)
  private let timeouts = DispatchQueue(label: "lookup-timeouts", qos: .userInitiated)
  private let state = Locked(State())

  /// Adds a request; it is completed on one of the queue's threads.
  ///
  /// - Parameters:
  ///   - entry: the request.
  ///   - evaluate: evaluates requests in their order; may block.
  ///   - evaluateWithoutWaiting: evaluates one request without blocking.
  func add(
    _ entry: Entry, evaluate: @escaping @Sendable ([OnDemandEvaluationRequest]) -> [Answer],
    evaluateWithoutWaiting: @escaping @Sendable (OnDemandEvaluationRequest) -> Answer
  ) {
    let isFirst = state.withLock { state in
      state.waiting.append(entry)
      guard !state.isRunning else { return false }
      (state.isRunning, state.since) = (true, .now)
      return true
    }
    guard isFirst else { return }
    queue.async { [self] in run(evaluate) }
    startTimer(evaluateWithoutWaiting)
  }

  private func run(_ evaluate: ([OnDemandEvaluationRequest]) -> [Answer]) {
    while let entries = next() {
      let answers = evaluate(entries.map(\.request))
      // Entries that timed out have been completed.
      let areCompleted = state.withLock { state in
        defer { state.running = [] }
        return state.running.isEmpty
      }
      guard !areCompleted else { continue }
      for (entry, answer) in zip(entries, answers) { entry.completion(answer) }
    }
  }

  private func next() -> [Entry]? {
    state.withLock { state in
      guard !state.waiting.isEmpty else {
        state.isRunning = false
        return nil
      }
      swap(&state.running, &state.waiting)
      state.since = .now
      return state.running
    }
  }

  /// Checks periodically for a timeout, while lookups are in progress.
  private func startTimer(_ evaluateWithoutWaiting: @escaping @Sendable (OnDemandEvaluationRequest) -> Answer) {
    let starts = state.withLock { state in
      defer { state.hasTimer = state.isRunning }
      return state.isRunning && !state.hasTimer
    }
    guard starts else { return }
    timeouts.asyncAfter(deadline: .now() + .milliseconds(Limits.lockTimeoutInterval)) { [weak self] in
      guard let self else { return }
      for entry in takeTimedOut() { entry.completion(evaluateWithoutWaiting(entry.request)) }
      startTimer(evaluateWithoutWaiting)
    }
  }

  /// Removes the entries to complete without the kernel's lock, including those that arrived after an earlier timeout.
  private func takeTimedOut() -> [Entry] {
    state.withLock { state in
      state.hasTimer = false
      guard state.isRunning, .now - state.since >= Limits.lockTimeout else { return [] }
      defer { (state.running, state.waiting) = ([], []) }
      return state.running + state.waiting
    }
  }
}
