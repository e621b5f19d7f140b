internal import Locks
internal import NetworkReachability
public import ReachabilityModel

extension Checker {
  /// Checks targets again and again until their outcomes fulfil a condition.
  ///
  /// A target is asked again a second after its last check began and ended, and at once when the way to it changes.
  ///
  /// - Parameters:
  ///   - requests: what to check; what is under way at the end of the time is given up.
  ///   - timeout: how long at the most.
  ///   - condition: is asked with the latest outcome of each request, in their order, whenever there is another; nil for one
  ///     that has none yet. Without requests it is asked once.
  /// - Returns: whether the condition was fulfilled, which it was not when the time was over or the task cancelled; and the
  ///   last outcomes, nil where there was none.
  public func wait(
    for requests: [ProbeRequest], timeout: Duration, until condition: @escaping @Sendable ([CheckOutcome?]) -> Bool
  ) async -> (isFulfilled: Bool, outcomes: [CheckOutcome?]) {
    // Of nobody there will be no outcome to ask it with.
    if requests.isEmpty, condition([]) { return (true, []) }
    let board = OutcomeBoard(count: requests.count)
    let isFulfilled = await withTaskGroup(of: Bool.self) { group in
      for (index, request) in requests.enumerated() {
        group.addTask { await self.repeatCheck(request) { condition(board.note($0, at: index)) } }
      }
      group.addTask {
        try? await Task.sleep(for: min(timeout, Limits.longestWait))
        return false
      }
      let result = await group.next() ?? false
      group.cancelAll()
      return result
    }
    return (isFulfilled, board.all)
  }

  /// Checks until `isEnough` says so, or the task is cancelled.
  private func repeatCheck(_ request: ProbeRequest, isEnough: @escaping @Sendable (CheckOutcome) -> Bool) async -> Bool
  {
    let way = CheckRules.target(request)
    let alarm = Alarm()
    let subscription = monitor.listen(to: .host, watching: [way], on: DeliveryContext { $0() }) { _ in alarm.ring() }
    defer { subscription?.cancel() }
    while !Task.isCancelled {
      let next = ContinuousClock.now + Limits.waitRetry
      // A change from here on may come too late for the check that begins, and must not be slept over.
      alarm.quiet()
      let outcome = await check(request)
      guard !Task.isCancelled else { return false }
      if isEnough(outcome) { return true }
      await alarm.wait(until: next)
    }
    return false
  }
}

/// The latest outcome of each request.
private final class OutcomeBoard: Sendable {
  private let outcomes: Locked<[CheckOutcome?]>

  init(count: Int) { outcomes = Locked(Array(repeating: nil, count: count)) }

  var all: [CheckOutcome?] { outcomes.withLock(\.self) }

  /// Puts an outcome in; returns all as of then.
  func note(_ outcome: CheckOutcome, at index: Int) -> [CheckOutcome?] {
    outcomes.withLock { outcomes in
      outcomes[index] = outcome
      return outcomes
    }
  }
}

/// A sleep that something may end early.
private final class Alarm: Sendable {
  private struct State {
    var isRung = false
    var sleep: Task<Void, Never>?
  }

  private let state = Locked(State())

  /// Ends a sleep, this one or the next.
  func ring() {
    let sleep = state.withLock { state in
      state.isRung = true
      return state.sleep
    }
    sleep?.cancel()
  }

  /// Forgets what has rung so far.
  func quiet() { state.withLock { $0 = State() } }

  /// Sleeps until a moment, a ring, or the end of the task.
  func wait(until deadline: ContinuousClock.Instant) async {
    let sleep = Task { _ = try? await Task.sleep(until: deadline, clock: .continuous) }
    let isRung = state.withLock { state in
      state.sleep = sleep
      return state.isRung
    }
    if isRung { sleep.cancel() }
    await withTaskCancellationHandler {
      await sleep.value
    } onCancel: {
      sleep.cancel()
    }
  }
}
