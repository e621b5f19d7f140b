package import HostResolver
package import ReachabilityModel

/// Resolves names by the hosts file and the name servers, or by a source that replaces both.
package struct WatchedNameResolver: Sendable {
  /// The resolvers by purpose.
  package let pool: NameResolverPool
  let source: (any NameSource)?

  /// Resolves a name with one of the pool's resolvers; a source answers for every resolver.
  ///
  /// - Parameters:
  ///   - name: a host name in ASCII.
  ///   - resolver: the resolver to use.
  ///   - timeout: the deadline for the whole lookup.
  ///   - completion: receives the result exactly once, on the resolver's thread or the caller's; it must not block.
  package func resolve(
    _ name: String, with resolver: Resolver, timeout: Duration,
    _ completion: @escaping @Sendable (NameResolution) -> Void
  ) {
    resolveUnlessBusy(name, with: resolver, timeout: timeout) {
      completion($0 ?? NameResolution(.failure(.tooManyQueries)))
    }
  }

  /// Resolves a name as ``resolve(_:with:timeout:_:)``; the result is nil when no server was asked because too many names
  /// wait.
  func resolveUnlessBusy(
    _ name: String, with resolver: Resolver, timeout: Duration,
    _ completion: @escaping @Sendable (NameResolution?) -> Void
  ) {
    guard let source else {
      // The same result as for a watched name, which the hosts file need not contain.
      let special = ReachabilityTarget(.name(name)).specialAddresses
      if special != .pending { return completion(special) }
      return _ = resolver.resolve(name, timeout: timeout) { answer in
        completion(answer == .failure(.tooManyQueries) ? nil : NameResolution(answer))
      }
    }
    if let literal = IPAddress(name) { return completion(.addresses([literal])) }
    let resolution = source.resolution(of: name)
    completion(resolution == .pending ? .failed(.dnsTimeout) : resolution)
  }

  /// Resolves a name once and waits for the result; cancelling the task ends the lookup as failed.
  func resolve(_ name: String, timeout: Duration) async -> NameResolution {
    guard source == nil else {
      return await withCheckedContinuation { continuation in
        resolve(name, with: pool.ephemeral, timeout: timeout) { continuation.resume(returning: $0) }
      }
    }
    let special = ReachabilityTarget(.name(name)).specialAddresses
    guard special == .pending else { return special }
    do throws(HostResolutionFailure) {
      return NameResolution(.success(try await pool.ephemeral.resolve(name, timeout: timeout)))
    } catch {
      return NameResolution(.failure(error))
    }
  }
}

extension NameResolution {
  /// The resolution that a resolver's answer stands for.
  init(_ result: Result<ResolvedAddresses, HostResolutionFailure>) {
    switch result {
    case .success(let found):
      self = .addresses(found.compactMap { IPAddress(octets: $0.bytes) }, omitted: found.omitted)
    case .failure(.notFound), .failure(.invalidName): self = .notFound
    case .failure(.timeout), .failure(.cancelled): self = .failed(.dnsTimeout)
    case .failure(.serverFailure), .failure(.tooManyQueries): self = .failed(.dnsServerFailure)
    case .failure(.systemFailure): self = .failed(.resolverUnavailable)
    }
  }
}

extension ReachabilityTarget {
  /// The resolution that needs no lookup: the addresses of `localhost` (RFC 6761 §6.3), not found for an invalid name, else
  /// pending.
  package var specialAddresses: NameResolution {
    guard case .name(let name) = remote else { return .pending }
    guard Resolver.accepts(name) else { return .notFound }
    let labels = name.lowercased().split(separator: ".")
    guard labels.last == "localhost" else { return .pending }
    return .addresses([IPAddress(ipv6: 0, 1), IPAddress(ipv4: 0x7f00_0001)])
  }
}
