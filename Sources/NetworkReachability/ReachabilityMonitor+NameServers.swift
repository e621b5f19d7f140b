internal import Names
internal import ReachabilityModel

extension ReachabilityMonitor {
  /// Whether, as of this moment, a way leads to any of the name servers; also when that cannot be said at once.
  ///
  /// One on this machine itself asks others, so it is as near as the local network, where those may be.
  package var reachesNameServer: Bool {
    lines.watches.servers.contains { server in
      guard let glance = glance(at: server), !glance.isBehind else { return true }
      let path = glance.verdict.path
      guard path.flags.contains(.isLocalAddress) else { return path.status != .notReachable }
      return self.glance(at: .localLink)?.verdict.path.status != .notReachable
    }
  }
}
