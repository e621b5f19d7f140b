/// From a target to the kernel's questions, and from the answers to its verdict: pure rules over one reading.
///
/// The two steps are one computation made twice: ``queries(for:resolution:in:)`` lists what
/// ``verdict(for:resolution:answers:in:)`` will look up.
public enum TargetRules {
  /// The questions that must be answered to judge a target.
  public static func queries(
    for target: Target, resolution: NameResolution = .pending, in tables: KernelTables
  ) -> [RouteQuery] {
    guard case .scope(let index) = scope(of: target, in: tables) else { return [] }
    return parts(of: target, resolution).flatMap { part -> [RouteQuery] in
      switch part {
      case .address(let address):
        [query(for: address, target, index)].filter { sourceFits($0) }
      case .family(let family):
        defaultQueries(family, target, index)
      }
    }
  }

  /// The verdict over a target.
  ///
  /// - Parameters:
  ///   - target: what is judged.
  ///   - resolution: what is known of its name; ignored for other targets.
  ///   - answers: the kernel's answer to each of ``queries(for:resolution:in:)``.
  ///   - tables: interfaces and addresses of the same reading.
  /// - Returns: the verdict; unknown where an answer is missing.
  public static func verdict(
    for target: Target, resolution: NameResolution = .pending, answers: [RouteQuery: RouteAnswer],
    in tables: KernelTables
  ) -> HostVerdict {
    let phase = phase(of: target, resolution)
    if phase == .resolved, case .name = target.remote, resolution == .notFound {
      return HostVerdict(target: target, path: .none(.dnsNotFound))
    }
    if case .refused(let reason) = scope(of: target, in: tables) {
      return HostVerdict(target: target, path: .none(reason), phase: phase)
    }
    if target.remote == .localLink {
      return HostVerdict(target: target, path: StatusRules.localLink(interface: target.interface, in: tables))
    }
    let verdicts = parts(of: target, resolution).map { verdict(for: $0, of: target, answers, in: tables) }
    var combined = HostVerdict(target: target, best: verdicts, phase: phase)
    guard phase == .optimistic else { return combined }
    if case .failed(let reason) = resolution, combined.path.reason == nil { combined.path.reason = reason }
    // The two halves of the default path are not addresses of the name.
    combined.addresses = []
    return combined
  }

  /// The addresses by whose routes alone a target is judged; nil when it must be asked about by itself, because of its
  /// source, its interface, what its addresses are, or because it has none.
  public static func routedAddresses(
    of target: Target, resolution: NameResolution = .pending
  ) -> [IPAddress]? {
    guard target.source == nil, target.interface == nil else { return nil }
    let addresses: [IPAddress]
    switch (target.remote, resolution) {
    case (.address(let address), _): addresses = [address]
    case (.name, .addresses(let found)): addresses = found
    default: return nil
    }
    return !addresses.isEmpty && addresses.allSatisfy(\.unmapped.goesByRoute) ? addresses : nil
  }

  // MARK: - Parts

  /// What one line of a verdict is about.
  private enum Part {
    case address(IPAddress)
    case family(IPAddress.Family)
  }

  private static func parts(of target: Target, _ resolution: NameResolution) -> [Part] {
    switch target.remote {
    case .localLink: return []
    // Asked about 0.0.0.0, Linux answers "local" whatever the routes.
    case .address(let address) where !address.unmapped.isUnspecified: return [.address(address)]
    case .defaultPath, .address: return IPAddress.Family.allCases.map(Part.family)
    case .name:
      switch resolution {
      case .addresses(let addresses): return addresses.map(Part.address)
      case .notFound: return []
      case .pending, .failed: return IPAddress.Family.allCases.map(Part.family)
      }
    }
  }

  private static func phase(of target: Target, _ resolution: NameResolution) -> HostVerdict.Phase {
    guard case .name = target.remote else { return .resolved }
    switch resolution {
    case .pending, .failed: return .optimistic
    case .addresses, .notFound: return .resolved
    }
  }

  private static func verdict(
    for part: Part, of target: Target, _ answers: [RouteQuery: RouteAnswer], in tables: KernelTables
  ) -> HostVerdict.AddressVerdict {
    let index = scopeIndex(of: target, in: tables)
    switch part {
    case .family(let family):
      let queries = defaultQueries(family, target, index)
      let none = IPAddress.unspecified(family)
      // A source of the other family can send nothing here.
      guard !queries.isEmpty else { return .init(address: none, path: .none(.noSource)) }
      return .init(address: none, path: StatusRules.defaultPath(queries, answers, in: tables))
    case .address(let address):
      let query = query(for: address, target, index)
      guard sourceFits(query) else { return .init(address: address, path: .none(.noSource)) }
      let path = answers[query].map { StatusRules.judge($0, to: query, in: tables) } ?? .unknown(.starting)
      return .init(address: address, path: path)
    }
  }

  // MARK: - Scope and source

  private enum Scope {
    case scope(UInt32?)
    case refused(Reason)
  }

  /// The index of the interface that the target is bound to, and whether its source address is ours to use.
  private static func scope(of target: Target, in tables: KernelTables) -> Scope {
    if let source = target.source, !isOwn(source, in: tables) { return .refused(.noSource) }
    guard let name = target.interface else { return .scope(nil) }
    guard let interface = tables.interface(named: name) else { return .refused(.unknownInterface) }
    return .scope(interface.index)
  }

  private static func scopeIndex(of target: Target, in tables: KernelTables) -> UInt32? {
    target.interface.flatMap { tables.interface(named: $0)?.index }
  }

  /// The kernel checks the source of IPv4 lookups only, so ownership is checked here for both families.
  private static func isOwn(_ source: IPAddress, in tables: KernelTables) -> Bool {
    if source.isLoopback { return true }
    return tables.owners(of: source).contains { entry in
      entry.isUsable && tables.interface(entry.interfaceIndex)?.flags.contains(.up) == true
    }
  }

  private static func sourceFits(_ query: RouteQuery) -> Bool {
    query.source.map { $0.family == query.destination.family } ?? true
  }

  private static func query(for address: IPAddress, _ target: Target, _ index: UInt32?) -> RouteQuery {
    let destination = address.unmapped
    return RouteQuery(destination, source: source(of: target, towards: destination), interfaceIndex: index)
  }

  /// A loopback source cannot leave the machine: with a remote elsewhere it is left out, as SCNetworkReachability does.
  private static func source(of target: Target, towards destination: IPAddress) -> IPAddress? {
    guard let source = target.source, source.isLoopback, !destination.isLoopback else { return target.source }
    return nil
  }

  private static func defaultQueries(
    _ family: IPAddress.Family, _ target: Target, _ index: UInt32?
  ) -> [RouteQuery] {
    let source = target.source.flatMap { $0.isLoopback ? nil : $0 }
    guard source == nil || source?.family == family else { return [] }
    return StatusRules.defaultQueries(family, source: source, interfaceIndex: index)
  }
}

extension IPAddress {
  /// `0.0.0.0` or `::`.
  static func unspecified(_ family: Family) -> IPAddress {
    family == .ipv4 ? IPAddress(ipv4: 0) : IPAddress(ipv6: 0, 0)
  }
}
