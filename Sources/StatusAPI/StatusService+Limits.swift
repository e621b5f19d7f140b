internal import HTTPRouting
internal import ReachabilityChecks

extension StatusService.Configuration {
  /// The settings of the router.
  var routerSettings: RouterSettings {
    RouterSettings(allowedHosts: allowedHosts, allowedOrigins: allowedOrigins, accessLog: accessLog)
  }
}

extension ContactPolicy {
  /// Returns the policy with the current addresses of this machine.
  func addingLocalAddresses(_ snapshot: Snapshot) -> ContactPolicy {
    var policy = self
    for state in snapshot.interfaces { policy.own.formUnion(state.addresses.map(\.address)) }
    return policy
  }
}
