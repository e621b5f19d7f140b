package import Names
public import ReachabilityModel

extension ReachabilityMonitor {
  /// Resolves a name: one question, with a deadline, to the hosts file and the name servers; or to what was given in their
  /// place, for which the deadline is over at once when it has no answer.
  ///
  /// - Parameters:
  ///   - name: a host name in ASCII.
  ///   - timeout: the deadline for everything.
  ///   - completion: takes what was found, exactly once, on the resolver's thread or the caller's; it must not block.
  public func resolve(
    _ name: String, timeout: Duration, _ completion: @escaping @Sendable (NameResolution) -> Void
  ) {
    resolve(name, in: lines.visitors, timeout: timeout, completion)
  }

  /// The same, in a line of ours; what was given in place of the servers is asked whatever the line.
  package func resolve(
    _ name: String, in line: Resolver, timeout: Duration, _ completion: @escaping @Sendable (NameResolution) -> Void
  ) {
    guard let names else {
      // As whoever watches it is told: what files say of it may be less.
      let own = ReachabilityTarget(.name(name)).ownAddresses
      if own != .pending { return completion(own) }
      return _ = line.resolve(name, timeout: timeout) { completion(NameResolution($0)) }
    }
    if let literal = IPAddress(name) { return completion(.addresses([literal])) }
    let resolution = names.resolution(of: name)
    completion(resolution == .pending ? .failed(.dnsTimeout) : resolution)
  }

  /// Resolves a name and waits for the answer; see ``resolve(_:timeout:_:)``.
  ///
  /// Cancelling the task ends it as failed.
  public func resolve(_ name: String, timeout: Duration) async -> NameResolution {
    guard names == nil else {
      return await withCheckedContinuation { continuation in
        resolve(name, timeout: timeout) { continuation.resume(returning: $0) }
      }
    }
    let own = ReachabilityTarget(.name(name)).ownAddresses
    guard own == .pending else { return own }
    do throws(ResolutionFailure) {
      return NameResolution(.success(try await lines.visitors.resolve(name, timeout: timeout)))
    } catch {
      return NameResolution(.failure(error))
    }
  }
}

extension NameResolution {
  /// What the resolver's answer means for a verdict.
  init(_ result: Result<[ResolvedAddress], ResolutionFailure>) {
    switch result {
    case .success(let found): self = .addresses(found.compactMap { IPAddress(octets: $0.bytes) })
    case .failure(.notFound), .failure(.badName): self = .notFound
    case .failure(.timeout), .failure(.cancelled): self = .failed(.dnsTimeout)
    case .failure(.serverFailure), .failure(.tooManyQueries): self = .failed(.dnsServerFailure)
    }
  }
}

extension ReachabilityTarget {
  /// The addresses that a name has without asking anybody: those of `localhost` (RFC 6761 §6.3), none what is no name.
  package var ownAddresses: NameResolution {
    guard case .name(let name) = remote else { return .pending }
    guard Resolver.takes(name) else { return .notFound }
    let labels = name.lowercased().split(separator: ".")
    guard labels.last == "localhost" else { return .pending }
    return .addresses([IPAddress(ipv6: 0, 1), IPAddress(ipv4: 0x7f00_0001)])
  }
}
