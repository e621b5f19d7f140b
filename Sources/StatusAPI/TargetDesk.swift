internal import NetworkReachability

/// What the routes of registered targets work with.
struct TargetDesk: Sendable {
  var schedule: CheckSchedule
  /// Whom callers may contact, as of now.
  var policy: @Sendable () -> ContactPolicy
  /// The modules that a caller may name besides the built-in ones; a reload may change them.
  var more: @Sendable () -> [ProbeModule]

  var modules: [ProbeModule] { more() }

  /// What is wrong with a caller's target by its address itself; a name is judged at each check, by what it resolves to.
  func denial(_ definition: TargetDefinition) -> Problem? {
    guard definition.target.scheme != .route, case .address(let address) = definition.target.host.remote,
      !policy().allows(address, port: definition.target.port)
    else { return nil }
    return .policyDenied
  }
}
