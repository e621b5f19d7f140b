internal import NetworkReachability
internal import ReachabilityChecks

extension ContactPolicy {
  /// Returns the policy with the current addresses of this machine.
  func addingLocalAddresses(_ snapshot: Snapshot) -> ContactPolicy {
    var policy = self
    for state in snapshot.interfaces { policy.own.formUnion(state.addresses.map(\.address)) }
    return policy
  }
}
