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
  ///   - timeout: how long at the most.
  /// - Returns: true when the target is reachable; false when the time is over, the task is cancelled, or the monitor
  ///   stops. A monitor that is not started yet may be started meanwhile.
  public func waitUntilReachable(_ target: Target = .default, timeout: Duration) async -> Bool {
    await wait(for: [target], timeout: timeout) { $0.allSatisfy(\.isSurelyReachable) }.isFulfilled
  }

  /// Waits until the verdicts over some targets fulfil a condition.
  ///
  /// - Parameters:
  ///   - targets: what to judge; for none, the condition is asked once.
  ///   - timeout: how long at the most.
  ///   - condition: is asked with the verdict of each target, in no order, whenever one has changed and all are known.
  /// - Returns: whether the condition was fulfilled, which it was not when the time was over, the task cancelled or the
  ///   monitor stopped; and the last verdicts, of those targets that had one.
  public func wait(
    for targets: [Target], timeout: Duration, until condition: @escaping @Sendable ([HostVerdict]) -> Bool
  ) async -> (isFulfilled: Bool, verdicts: [HostVerdict]) {
    if targets.isEmpty { return (condition([]), []) }
    let verdicts = Verdicts()
    let updates = updates(of: .host, watching: targets)
    let isFulfilled = await withTaskGroup(of: Bool.self) { group in
      group.addTask {
        for await update in updates {
          guard let verdict = update.host else { continue }
          let known = verdicts.note(verdict)
          if known.count == Set(targets).count, condition(known) { return true }
        }
        return false
      }
      group.addTask {
        try? await Task.sleep(for: timeout)
        return false
      }
      let result = await group.next() ?? false
      group.cancelAll()
      return result
    }
    return (isFulfilled, verdicts.all)
  }
}

/// The latest verdict of each target that is waited for.
private final class Verdicts: Sendable {
  private let byTarget = Locked<[Target: HostVerdict]>([:])

  var all: [HostVerdict] { byTarget.withLock { Array($0.values) } }

  func note(_ verdict: HostVerdict) -> [HostVerdict] {
    byTarget.withLock { byTarget in
      byTarget[verdict.target] = verdict
      return Array(byTarget.values)
    }
  }
}

extension HostVerdict {
  /// Reachable, and not only because its name is not resolved yet.
  public var isSurelyReachable: Bool { path.status.isReachable && phase == .resolved }
}
