public import ReachabilityModel

/// A gate of an earlier process.
public struct RestoredGate: Hashable, Sendable {
  /// What it requires.
  public var definition: GateDefinition
  /// The configuration, or a client.
  public var origin: TargetOrigin
  /// Its last published state.
  public var state: GateState
  /// When it entered this state.
  public var since: Timestamp

  /// Creates a gate from its parts.
  public init(definition: GateDefinition, origin: TargetOrigin, state: GateState, since: Timestamp) {
    self.definition = definition
    self.origin = origin
    self.state = state
    self.since = since
  }
}
