/// Derives a target's lookups, and its verdict from the answers: pure rules over one reading.
///
/// Both steps make the same computation: ``queries(for:resolution:permitting:in:)`` lists what
/// ``verdict(for:resolution:permitting:answers:in:)`` will use.
///
/// A requirement of interface types adds a lookup for each permitted interface, because the kernel's own choice may not
/// be permitted.
package enum TargetRules {
  /// The lookups that the verdict for a target needs.
  package static func queries(
    for target: ReachabilityTarget, resolution: NameResolution = .pending,
    permitting requirement: InterfaceRequirement = .none,
    in tables: KernelTables
  ) -> [RouteQuery] {
    guard case .scopes(let indexes) = scopes(of: target, requirement, in: tables) else { return [] }
    let ownership = target.sourceQuery(in: tables).map { [$0] } ?? []
    return ownership
      + parts(of: target, resolution).flatMap { part -> [RouteQuery] in
        indexes.flatMap { index -> [RouteQuery] in
          switch part {
          case .address(let address): [query(for: address, target, index)].filter { sourceFits($0) }
          case .family(let family): defaultQueries(family, target, index)
          }
        }
      }
  }

  /// The verdict for a target.
  ///
  /// - Parameters:
  ///   - target: the target.
  ///   - resolution: the resolution of its name; ignored for other targets.
  ///   - requirement: the interface types that count.
  ///   - answers: the kernel's answer to each of ``queries(for:resolution:permitting:in:)``.
  ///   - tables: interfaces and addresses of the same reading.
  /// - Returns: the verdict; unknown where an answer is missing.
  package static func verdict(
    for target: ReachabilityTarget, resolution: NameResolution = .pending,
    permitting requirement: InterfaceRequirement = .none,
    answers: [RouteQuery: RouteAnswer], in tables: KernelTables
  ) -> HostVerdict {
    let phase = phase(of: target, resolution)
    if phase == .resolved, case .name = target.remote, resolution == .notFound {
      return HostVerdict(target: target, path: .none(.dnsNotFound))
    }
    let indexes: [UInt32?]
    switch scopes(of: target, requirement, in: tables) {
    case .refused(let reason): return HostVerdict(target: target, path: .none(reason), phase: phase)
    case .scopes(let found): indexes = found
    }
    if let query = target.sourceQuery(in: tables), answers[query]?.found?.type != .local {
      let path = answers[query] == nil ? NetworkPath.unknown(.starting) : .none(.noSource)
      return HostVerdict(target: target, path: path, phase: phase)
    }
    if target.remote == .localLink {
      let path = StatusRules.localLink(interface: target.interface, permitting: requirement, in: tables)
      return HostVerdict(target: target, path: path)
    }
    let verdicts = parts(of: target, resolution).map { part in
      let paths = indexes.map { path(to: part, of: target, through: $0, answers, in: tables) }
      // A lookup that is bound to one interface has no alternatives.
      let chosen = target.interface == nil ? requirement.choice(of: paths) : paths.first ?? .unknown(.starting)
      return HostVerdict.AddressVerdict(address: part.address, path: chosen)
    }
    var combined = HostVerdict(target: target, best: verdicts, phase: phase)
    if case .name = target.remote { combined.addressesOmitted = resolution.omitted }
    guard phase == .optimistic else { return combined }
    if case .failed(let reason) = resolution, combined.path.reason == nil { combined.path.reason = reason }
    // The two halves of the default path are not addresses of the name.
    combined.addresses = []
    return combined
  }

  /// The addresses whose routes alone decide about a target.
  ///
  /// Nil when the target needs lookups of its own: because of its source, its interface, the class of its addresses,
  /// because it has none, or because interface types are restricted.
  package static func routedAddresses(
    of target: ReachabilityTarget, resolution: NameResolution = .pending,
    permitting requirement: InterfaceRequirement = .none
  ) -> [IPAddress]? {
    guard target.source == nil, target.interface == nil, requirement == .none else { return nil }
    let addresses: [IPAddress]
    switch (target.remote, resolution) {
    case (.address(let address), _): addresses = [address]
    case (.name, .addresses(let found, _)): addresses = found
    default: return nil
    }
    return !addresses.isEmpty && addresses.allSatisfy(\.unmapped.isRouted) ? addresses : nil
  }

  // MARK: - Parts

  /// The subject of one part of a verdict.
  private enum Part {
    case address(IPAddress)
    case family(IPAddress.Family)

    /// The address, or the one that represents a family.
    var address: IPAddress {
      switch self {
      case .address(let address): address
      case .family(let family): .unspecified(family)
      }
    }
  }

  private static func parts(of target: ReachabilityTarget, _ resolution: NameResolution) -> [Part] {
    switch target.remote {
    case .localLink: return []
    // For 0.0.0.0, Linux answers "local" regardless of the routes.
    case .address(let address) where !address.unmapped.isUnspecified: return [.address(address)]
    case .defaultPath, .address: return IPAddress.Family.allCases.map(Part.family)
    case .name:
      switch resolution {
      case .addresses(let addresses, _): return addresses.map(Part.address)
      case .notFound: return []
      case .pending, .failed: return IPAddress.Family.allCases.map(Part.family)
      }
    }
  }

  private static func phase(of target: ReachabilityTarget, _ resolution: NameResolution) -> HostVerdict.Phase {
    guard case .name = target.remote else { return .resolved }
    switch resolution {
    case .pending, .failed: return .optimistic
    case .addresses, .notFound: return .resolved
    }
  }

  private static func path(
    to part: Part, of target: ReachabilityTarget, through index: UInt32?, _ answers: [RouteQuery: RouteAnswer],
    in tables: KernelTables
  ) -> NetworkPath {
    switch part {
    case .family(let family):
      let queries = defaultQueries(family, target, index)
      // A source of the other family cannot be used here.
      guard !queries.isEmpty else { return .none(.noSource) }
      return StatusRules.defaultPath(queries, answers, in: tables)
    case .address(let address):
      let query = query(for: address, target, index)
      guard sourceFits(query) else { return .none(.noSource) }
      // Every link has these addresses, so that connect(2) refuses them without an interface (RFC 4007 §6).
      let isAmbiguous = query.destination.family == .ipv6 && query.destination.isLinkLocal
      if isAmbiguous, query.interfaceIndex == nil { return .none(.noRoute) }
      guard let answer = answers[query] else { return .unknown(.starting) }
      // Programs whose interface must have a certain type do not bind their sockets to it.
      if target.interface == nil, answer.found?.isAssumed == true { return .none(.noRoute) }
      return StatusRules.evaluate(answer, to: query, in: tables)
    }
  }

  // MARK: - Scope and source

  private enum Scopes {
    case scopes([UInt32?])
    case refused(Reason)
  }

  /// The indexes of the interfaces to use, nil for the kernel's choice; or why the target is rejected.
  private static func scopes(
    of target: ReachabilityTarget, _ requirement: InterfaceRequirement, in tables: KernelTables
  ) -> Scopes {
    let interface = target.interface.flatMap { tables.interface(scope: $0) }
    if target.interface != nil, interface == nil { return .refused(.unknownInterface) }
    guard target.hasOwnSource(in: tables) || target.sourceQuery(in: tables) != nil else { return .refused(.noSource) }
    guard let interface else { return .scopes(requirement.scopes(in: tables)) }
    return requirement.permits(interface.type) ? .scopes([interface.index]) : .refused(.noRoute)
  }

  private static func sourceFits(_ query: RouteQuery) -> Bool {
    query.source.map { $0.family == query.destination.family } ?? true
  }

  private static func query(for address: IPAddress, _ target: ReachabilityTarget, _ index: UInt32?) -> RouteQuery {
    var destination = address.unmapped
    // A connection to 0.0.0.0 or :: is one to this machine; `RTM_GETROUTE` refuses the first and takes the second for a host.
    if destination.isUnspecified { destination = .loopback(destination.family) }
    return RouteQuery(
      destination, source: source(of: target, towards: destination), interfaceIndex: index,
      transport: target.transport)
  }

  /// The source of a target; nil for a loopback source and a remote elsewhere, as in SCNetworkReachability.
  private static func source(of target: ReachabilityTarget, towards destination: IPAddress) -> IPAddress? {
    guard let source = target.source, source.isLoopback, !destination.isLoopback else { return target.source }
    return nil
  }

  private static func defaultQueries(
    _ family: IPAddress.Family, _ target: ReachabilityTarget, _ index: UInt32?
  ) -> [RouteQuery] {
    let source = target.source.flatMap { $0.isLoopback ? nil : $0 }
    guard source == nil || source?.family == family else { return [] }
    return StatusRules.defaultQueries(family, source: source, interfaceIndex: index)
  }
}
