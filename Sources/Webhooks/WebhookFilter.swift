/// The events that a webhook receives: those that fulfil every given condition.
public struct WebhookFilter: Sendable, Equatable {
  /// The types: `status`, `path`, `interface`, `target`; empty for all.
  public var types: Set<String>
  /// The states after the event, of this machine or of a target: `notReachable`, `down`; empty for all.
  ///
  /// Events without a state (`path`, `interface`) do not fulfil it.
  public var states: Set<String>
  /// The ids of registered targets; empty for all.
  ///
  /// Events that do not concern a target do not fulfil it.
  public var targets: Set<String>
  /// The labels that a target must have; empty for all targets.
  ///
  /// Events that do not concern a target do not fulfil it.
  public var labels: [String: String]

  /// Creates a filter; without arguments it accepts every event.
  public init(
    types: Set<String> = [], states: Set<String> = [], targets: Set<String> = [], labels: [String: String] = [:]
  ) {
    self.types = types
    self.states = states
    self.targets = targets
    self.labels = labels
  }

  func accepts(_ event: WebhookEvent) -> Bool {
    guard types.isEmpty || types.contains(event.type) else { return false }
    guard states.isEmpty || event.state.map(states.contains) ?? false else { return false }
    guard targets.isEmpty || event.target.map(targets.contains) ?? false else { return false }
    return labels.allSatisfy { name, value in event.labels[name] == value }
  }
}
