internal import Locks
internal import NetworkReachability
public import ReachabilityModel

extension Checker {
  /// Checks targets again and again until their outcomes fulfil a condition.
  ///
  /// A target is asked again a second after its last check began and ended, and at once when the way to it changes.
  ///
  /// - Parameters:
  ///   - requests: what to check; each is cut short at the end of the time.
  ///   - timeout: how long at the most.
  ///   - condition: is asked with the latest outcome of each request, in their order, whenever all have one.
  /// - Returns: whether the condition was fulfilled, which it was not when the time was over or the task cancelled; and the
  ///   last outcomes, of those requests that had one.
  public func wait(
    for requests: [ProbeRequest], timeout: Duration, until condition: @escaping @Sendable ([CheckOutcome]) -> Bool
  ) async -> (isFulfilled: Bool, outcomes: [CheckOutcome]) {
    let board = OutcomeBoard(count: requests.count)
    let isFulfilled = await withTaskGroup(of: Bool.self) { group in
      for (index, request) in requests.enumerated() {
        group.addTask { await self.repeatCheck(request) { board.note($0, at: index).map(condition) ?? false } }
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

  var all: [CheckOutcome] { outcomes.withLock { $0.compactMap(\.self) } }

  /// All outcomes, if there is one of each.
  func note(_ outcome: CheckOutcome, at index: Int) -> [CheckOutcome]? {
    outcomes.withLock { outcomes in
      outcomes[index] = outcome
      let known = outcomes.compactMap(\.self)
      return known.count == outcomes.count ? known : nil
    }
  }
}

/// A sleep that something may end early.
private final class Alarm: Sendable {
  private let stream: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation

  init() {
    // One ring is remembered: a change during a check must not be slept over.
    (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  func ring() { continuation.yield() }

  func wait(until deadline: ContinuousClock.Instant) async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { [stream] in
        var iterator = stream.makeAsyncIterator()
        await iterator.next()
      }
      group.addTask { try? await Task.sleep(until: deadline, clock: .continuous) }
      await group.next()
      group.cancelAll()
    }
  }
}
