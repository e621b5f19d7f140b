internal import HostResolver
public import ReachabilityModel

extension ReachabilityMonitor {
  /// Resolves a name once by the hosts file and the name servers, or by the source given in their place; a source without an
  /// answer counts as a timeout.
  ///
  /// - Parameters:
  ///   - name: a host name in ASCII.
  ///   - timeout: the deadline for the whole lookup.
  ///   - completion: receives the result exactly once, on the resolver's thread or the caller's; it must not block.
  public func resolve(
    _ name: String, timeout: Duration, _ completion: @escaping @Sendable (NameResolution) -> Void
  ) {
    nameResolver.resolve(name, with: nameResolver.pool.ephemeral, timeout: timeout, completion)
  }

  /// Resolves a name once for a client of the service; the queries for all clients together are limited.
  ///
  /// - Parameters:
  ///   - name: a host name in ASCII.
  ///   - timeout: the deadline for the whole lookup.
  ///   - completion: receives the result exactly once, on the resolver's thread or the caller's; nil when the name was not
  ///     queried because too many others wait.
  package func resolve(
    forClient name: String, timeout: Duration, _ completion: @escaping @Sendable (NameResolution?) -> Void
  ) {
    nameResolver.resolveUnlessBusy(name, with: nameResolver.pool.clientLookups, timeout: timeout, completion)
  }

  /// Resolves a name and waits for the result, as ``resolve(_:timeout:_:)``; cancelling the task ends the lookup as failed.
  public func resolve(_ name: String, timeout: Duration) async -> NameResolution {
    await nameResolver.resolve(name, timeout: timeout)
  }

  /// Whether any of the name servers has a route, without waiting; true also when that is not known.
  ///
  /// A name server on this machine forwards queries, so it counts as reachable when the local network is.
  package var reachesNameServer: Bool {
    nameResolver.pool.watches.servers.contains { server in
      guard let provisional = provisionalVerdict(of: server), !provisional.isStale else { return true }
      let path = provisional.verdict.path
      guard path.flags.contains(.isLocalAddress) else { return path.status != .notReachable }
      return provisionalVerdict(of: .localLink)?.verdict.path.status != .notReachable
    }
  }
}
