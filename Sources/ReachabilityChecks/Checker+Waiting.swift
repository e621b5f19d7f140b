internal import Locks
internal import NetworkReachability
public import ReachabilityModel

extension Checker {
  /// Checks targets repeatedly until their outcomes fulfil a condition.
  ///
  /// A target is checked again one second after its last check began, and immediately when the route to it changes.
  ///
  /// - Parameters:
  ///   - requests: what to check; checks in progress at the timeout are cancelled.
  ///   - timeout: the longest wait.
  ///   - condition: is called with the latest outcome of each request, in their order, after each check; nil for a request
  ///     without an outcome. Without requests it is called once.
  /// - Returns: whether the condition was fulfilled, which is false after the timeout and when the task is cancelled; and the
  ///   last outcomes, nil for a request without one.
  public func wait(
    for requests: [CheckRequest], timeout: Duration, until condition: @escaping @Sendable ([CheckOutcome?]) -> Bool
  ) async -> (isFulfilled: Bool, outcomes: [CheckOutcome?]) {
    // No outcome would cause a call.
    if requests.isEmpty, condition([]) { return (true, []) }
    let collector = OutcomeCollector(count: requests.count)
    let isFulfilled = await withTaskGroup(of: Bool.self) { group in
      for (index, request) in requests.enumerated() {
        group.addTask { await self.repeatCheck(request) { condition(collector.set($0, at: index)) } }
      }
      group.addTask {
        try? await Task.sleep(for: min(timeout, Limits.longestWait))
        return false
      }
      let result = await group.next() ?? false
      group.cancelAll()
      return result
    }
    return (isFulfilled, collector.all)
  }

  /// Checks until `isEnough` returns true, or the task is cancelled.
  private func repeatCheck(_ request: CheckRequest, isEnough: @escaping @Sendable (CheckOutcome) -> Bool) async -> Bool
  {
    let route = CheckRules.routeTarget(request)
    let sleep = InterruptibleSleep()
    let subscription = monitor.listen(to: .host, watching: [route], on: DeliveryContext { $0() }) { _ in
      sleep.interrupt()
    }
    defer { subscription?.cancel() }
    while !Task.isCancelled {
      let next = ContinuousClock.now + Limits.waitRetry
      // A change after this point may come too late for this check, and must interrupt the sleep after it.
      sleep.reset()
      let outcome = await check(request)
      guard !Task.isCancelled else { return false }
      if isEnough(outcome) { return true }
      await sleep.sleep(until: next)
    }
    return false
  }
}

/// The latest outcome of each request.
private final class OutcomeCollector: Sendable {
  private let outcomes: Locked<[CheckOutcome?]>

  init(count: Int) { outcomes = Locked(Array(repeating: nil, count: count)) }

  var all: [CheckOutcome?] { outcomes.withLock(\.self) }

  /// Stores an outcome; returns all outcomes.
  func set(_ outcome: CheckOutcome, at index: Int) -> [CheckOutcome?] {
    outcomes.withLock { outcomes in
      outcomes[index] = outcome
      return outcomes
    }
  }
}

/// A sleep that another task may end early.
private final class InterruptibleSleep: Sendable {
  private struct State {
    var isInterrupted = false
    var task: Task<Void, Never>?
  }

  private let state = Locked(State())

  /// Ends the present sleep or, without one, the next.
  func interrupt() {
    let task = state.withLock { state in
      state.isInterrupted = true
      return state.task
    }
    task?.cancel()
  }

  /// Discards earlier interrupts.
  func reset() { state.withLock { $0 = State() } }

  /// Sleeps until a deadline, an interrupt, or the cancellation of the task.
  func sleep(until deadline: ContinuousClock.Instant) async {
    let task = Task { _ = try? await Task.sleep(until: deadline, clock: .continuous) }
    let isInterrupted = state.withLock { state in
      state.task = task
      return state.isInterrupted
    }
    if isInterrupted { task.cancel() }
    await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      task.cancel()
    }
  }
}
