package import HostResolver

/// Resolvers for separate purposes, each with its own queue and cache.
///
/// A name that no server answers occupies one of a resolver's few slots for seconds. Separate queues keep one-time lookups
/// from delaying names that are watched or checked repeatedly.
package struct NameResolverPool: Sendable {
  /// For watched names.
  let watches: Resolver
  /// For names that only clients of the service watch.
  let ephemeralWatches: Resolver
  /// For names of checked targets.
  package let checks: Resolver
  /// For one-time lookups.
  package let ephemeral: Resolver
  /// For one-time lookups that clients of the service request.
  let clientLookups: Resolver

  init(_ configuration: ResolverConfiguration) {
    (watches, checks, ephemeral) = (Resolver(configuration), Resolver(configuration), Resolver(configuration))
    // Clients need no authorization for these, and name servers are other people's.
    var limited = configuration
    limited.queryLimit = Limits.clientQueries
    (ephemeralWatches, clientLookups) = (Resolver(limited), Resolver(limited))
  }

  /// Empties all caches: another network may have other answers.
  func flush() {
    for resolver in [watches, ephemeralWatches, checks, ephemeral, clientLookups] { resolver.flush() }
  }
}
