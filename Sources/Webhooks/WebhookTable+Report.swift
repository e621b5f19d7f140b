internal import ReachabilityModel

extension WebhookTable {
  /// The state of a webhook; nil for an unknown id.
  func report(_ id: String, _ now: Moment) -> WebhookReport? {
    guard let entry = entries[id] else { return nil }
    guard let state = entry.state, !state.isReleased else {
      return WebhookReport(
        definition: entry.definition, state: isOwned(id) ? .starting : .standby, pending: 0, failures: 0,
        totals: entry.totals)
    }
    let position = state.position
    let next = state.wait.map { wait in
      now.time.advanced(by: max(.zero, wait.until - now.uptime))
    }
    return WebhookReport(
      definition: entry.definition, state: state.reportedState, pause: position.pause,
      position: position.settled == 0 ? nil : "\(position.epoch)-\(position.settled)", pending: state.pending,
      oldest: state.oldestAge(now), failures: position.failures,
      nextAttempt: state.reportedState == .retrying ? next : nil, lastDelivery: state.lastDelivery,
      lastFailure: state.lastFailure, totals: entry.totals)
  }
}

extension WebhookDeliveryState {
  fileprivate var reportedState: WebhookReport.State {
    if case .sending = activity { return .sending }
    if position.pause != nil { return .paused }
    guard let hasRoute else { return .starting }
    guard hasMessage else { return .idle }
    if !hasRoute { return .held }
    return wait == nil ? .sending : .retrying
  }
}
