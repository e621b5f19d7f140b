internal import ReachabilityChecks

extension TargetReport {
  /// Returns the result of the last check with the present path; nil before the first check.
  ///
  /// The path at the time of the check is not stored.
  func lastOutcome(_ monitor: ReachabilityMonitor) -> CheckOutcome? {
    status.lastResult.map { outcome($0, isConnected: $0.address != nil, monitor) }
  }

  /// Returns what the state is based on, with the present path.
  ///
  /// It is the last check, unless the kernel has reported the loss of the route since then, another target is the cause, or an
  /// earlier process made the check: then only the state and its reason are known.
  func currentOutcome(_ monitor: ReachabilityMonitor) -> CheckOutcome {
    let isLost = status.state == .unreachable && status.lastResult.map { $0.startedAt < status.since } != false
    if let last = status.lastResult, status.reason != .dependencyDown,
      !isLost || (last.state, last.reason) == (.unreachable, status.reason)
    {
      return outcome(last, isConnected: true, monitor)
    }
    let state = CheckResult.State(rawValue: status.state.rawValue) ?? .unknown
    let result = CheckResult(state, status.reason, startedAt: status.since, duration: .zero)
    return outcome(result, isConnected: true, monitor)
  }

  private func outcome(_ result: CheckResult, isConnected: Bool, _ monitor: ReachabilityMonitor) -> CheckOutcome {
    let request = CheckRequest(definition.target, module: definition.module, timeout: definition.timeout)
    let path = isConnected ? monitor.verdict(of: definition.target.routeTarget)?.path : nil
    return CheckOutcome(request: request, result: result, path: path)
  }
}
