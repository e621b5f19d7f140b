internal import ReachabilityFleet
internal import ReachabilityModel

/// What a gateway needs of the fold of its replica.
protocol GatewayRosterSource: AnyObject, Sendable {
  func isReplica(_ id: String) -> Bool
  /// The sequence of the `hello` by which an agent is present, and the identity of the list of what it checks.
  func confirmation(of agent: String) -> (hello: UInt64?, roster: GatewayConfirmation.Roster?)
  /// What an agent checks; nil while that is not known.
  func checks(of agent: String) -> (roster: GatewayConfirmation.Roster, checks: [TargetSpec])?
  /// Those of the checks that an agent has to end; nil while that is not known.
  func ended(_ ids: [String], of agent: String) -> [String]?
}
