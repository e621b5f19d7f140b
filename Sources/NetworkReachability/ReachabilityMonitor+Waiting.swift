internal import Locks
public import ReachabilityModel

extension ReachabilityMonitor {
  /// Waits until a target is reachable, which it may be already.
  ///
  /// For retrying what failed while the way was missing, with the failure kept when it does not come back:
  ///
  /// ```swift
  /// do {
  ///   return try await fetch()
  /// } catch {
  ///   guard await monitor.waitUntilReachable(target, timeout: .seconds(5)) else { throw error }
  ///   return try await fetch()
  /// }
  /// ```
  ///
  /// Any number of waiters share this one monitor. A name counts as reachable when it is resolved and one of its addresses
  /// is: the optimism of a name that is not resolved yet ends no wait.
  ///
  /// - Parameters:
  ///   - target: what to wait for; default this machine's way out.
  ///   - timeout: how long at the most, by the real clock; with zero, what the first verdict says. That is awaited on a
  ///     started monitor however short the timeout is, which takes it one question to the kernel.
  /// - Returns: true when the target is reachable; false when the time is over, the task is cancelled, or the monitor
  ///   stops, and at once when as many targets as may be are watched already. A monitor that is not started yet may be started meanwhile.
  public func waitUntilReachable(_ target: ReachabilityTarget = .default, timeout: Duration) async -> Bool {
    await wait(for: [target], timeout: timeout) { $0.allSatisfy(\.isSurelyReachable) }.isFulfilled
  }

  /// Waits until the verdicts over some targets fulfil a condition.
  ///
  /// - Parameters:
  ///   - targets: what to judge; for none, the condition is asked once.
  ///   - timeout: how long at the most, by the real clock; but the first verdicts are awaited on a started monitor.
  ///   - condition: is asked with the verdict of each target, in no order, whenever one has changed and all are known.
  /// - Returns: whether the condition was fulfilled, which it was not when the time was over, the task cancelled, the
  ///   monitor stopped, or so many targets watched already that there was no room for these; and the last verdicts, of
  ///   those targets that had one, in their order and each once.
  public func wait(
    for targets: [ReachabilityTarget], timeout: Duration, until condition: @escaping @Sendable ([HostVerdict]) -> Bool
  ) async -> (isFulfilled: Bool, verdicts: [HostVerdict]) {
    if targets.isEmpty { return (condition([]), []) }
    let board = VerdictBoard(count: Set(targets).count)
    let updates = updates(of: .host, watching: targets)
    let isStarted = isStarted
    let deadline = ContinuousClock.now + min(timeout, Limits.longestWait)
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        for await update in updates {
          guard let verdict = update.host, board.judge(verdict, by: condition) else { continue }
          if board.isFulfilled || ContinuousClock.now >= deadline { return }
        }
      }
      group.addTask {
        try? await Task.sleep(until: deadline, clock: .continuous)
        // Who comes too late for the end of the time, the other task looks at the clock itself.
        if isStarted, !board.isJudged { try? await Task.sleep(for: Limits.firstVerdicts) }
      }
      await group.next()
      group.cancelAll()
    }
    return (board.isFulfilled, board.verdicts(of: targets))
  }
}

/// The latest verdict of each target that is waited for, and what the condition said of them.
private final class VerdictBoard: Sendable {
  private struct State {
    /// As they came first; the condition is given this very array, for each copy would have as many as are waited for.
    var verdicts: [HostVerdict] = []
    var places: [ReachabilityTarget: Int] = [:]
    var isJudged = false
    var isFulfilled = false
  }

  private let count: Int
  private let state = Locked(State())

  init(count: Int) { self.count = count }

  /// The verdicts over those targets that have one, in that order, each once.
  func verdicts(of targets: [ReachabilityTarget]) -> [HostVerdict] {
    state.withLock { state in
      var left = state.places
      return targets.compactMap { left.removeValue(forKey: $0) }.map { state.verdicts[$0] }
    }
  }

  /// Whether the condition has been asked.
  var isJudged: Bool { state.withLock(\.isJudged) }

  /// Whether it said yes.
  var isFulfilled: Bool { state.withLock(\.isFulfilled) }

  /// Notes a verdict and, when all are known, asks the condition.
  ///
  /// - Returns: whether it was asked.
  func judge(_ verdict: HostVerdict, by condition: ([HostVerdict]) -> Bool) -> Bool {
    let known = state.withLock { state -> [HostVerdict]? in
      if let place = state.places[verdict.target] {
        state.verdicts[place] = verdict
      } else {
        state.places[verdict.target] = state.verdicts.count
        state.verdicts.append(verdict)
      }
      return state.verdicts.count == count ? state.verdicts : nil
    }
    guard let known else { return false }
    let isFulfilled = condition(known)
    state.withLock { state in
      state.isJudged = true
      state.isFulfilled = isFulfilled
    }
    return true
  }
}

extension HostVerdict {
  /// Reachable, and not only because its name is not resolved yet.
  public var isSurelyReachable: Bool { path.status.isReachable && phase == .resolved }
}
