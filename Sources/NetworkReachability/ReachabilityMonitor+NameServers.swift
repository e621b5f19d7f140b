internal import Names
internal import ReachabilityModel

extension ReachabilityMonitor {
  /// Whether, as of this moment, a way leads to any of the name servers; also when the kernel cannot be asked.
  ///
  /// One on this machine itself asks others, so it is as near as the local network, where those may be.
  package var reachesNameServer: Bool {
    lines.watches.servers.contains { server in
      guard let verdict = try? evaluate(server) else { return true }
      guard verdict.path.flags.contains(.isLocalAddress) else { return verdict.path.status != .notReachable }
      return (try? evaluate(.localLink))?.path.status != .notReachable
    }
  }
}
