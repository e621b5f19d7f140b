public import ReachabilityModel

extension ReachabilityMonitor {
  /// Waits until a target is reachable; returns immediately when it is.
  ///
  /// Use it to retry after a failure, and to keep the error when the target stays unreachable:
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
  /// Any number of callers may share one monitor. A name is reachable when it is resolved and one of its addresses is
  /// reachable; the optimistic verdict before the resolution does not end the wait.
  ///
  /// - Parameters:
  ///   - target: the target; by default this machine's default path.
  ///   - timeout: the longest wait; a started monitor delivers its first verdict, which takes one lookup, even with a timeout of
  ///     zero.
  /// - Returns: true when the target is reachable; false after the timeout, when the task is cancelled or the monitor stops,
  ///   and immediately when the limit of watched targets is reached. The monitor may be started during the wait.
  public func waitUntilReachable(_ target: ReachabilityTarget = .default, timeout: Duration) async -> Bool {
    await wait(for: [target], timeout: timeout) { $0.allSatisfy(\.isConfirmedReachable) }.isFulfilled
  }

  /// Waits until the verdicts for some targets fulfil a condition.
  ///
  /// - Parameters:
  ///   - targets: the targets; without any, the condition is evaluated once.
  ///   - timeout: the longest wait; a started monitor delivers its first verdicts even with a timeout of zero.
  ///   - condition: is called with the verdict for each target, unordered, after each change once all are known.
  /// - Returns: whether the condition was fulfilled, which is false after the timeout, when the task is cancelled, the monitor
  ///   stops or the limit of watched targets is reached; and the last verdicts, in the order of the targets, each once.
  public func wait(
    for targets: [ReachabilityTarget], timeout: Duration, until condition: @escaping @Sendable ([HostVerdict]) -> Bool
  ) async -> (isFulfilled: Bool, verdicts: [HostVerdict]) {
    if targets.isEmpty { return (condition([]), []) }
    let collector = VerdictCollector(count: Set(targets).count)
    let updates = updates(of: .host, watching: targets)
    let isStarted = isStarted
    let deadline = ContinuousClock.now + min(timeout, Limits.longestWait)
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        for await update in updates {
          guard let verdict = update.host, collector.add(verdict, condition) else { continue }
          if collector.isFulfilled || ContinuousClock.now >= deadline { return }
        }
      }
      group.addTask {
        try? await Task.sleep(until: deadline, clock: .continuous)
        // First verdicts after the deadline end the other task, which compares the clock itself.
        if isStarted, !collector.isEvaluated { try? await Task.sleep(for: Limits.firstVerdicts) }
      }
      await group.next()
      group.cancelAll()
    }
    return (collector.isFulfilled, collector.verdicts(of: targets))
  }
}

extension HostVerdict {
  /// Whether the target is reachable, and its name resolved.
  public var isConfirmedReachable: Bool { path.status.isReachable && phase == .resolved }
}
