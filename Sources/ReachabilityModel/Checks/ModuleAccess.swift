/// The targets for which a caller may use a module that sends data of the configuration file.
///
/// Such data is a header field, a body, a text or a name. It may be a secret, and a caller may choose the server.
/// Targets of the configuration file may use every module (``CheckRequest/policy`` is nil).
public enum ModuleAccess: Hashable, Sendable {
  /// Targets of the configuration file only, unless the module sends no data of the file.
  case configuredTargets
  /// Targets that one of these patterns matches.
  case hosts([HostPattern])
  /// All targets that the ``ContactPolicy`` allows.
  case any

  /// No target of a client.
  public static let noTarget = ModuleAccess.hosts([])

  /// Whether a module may be used for a target.
  public enum Verdict: Hashable, Sendable {
    /// It may be used.
    case allowed
    /// It may not be used.
    case denied
    /// It may be used if the address of the connection is in one of these blocks.
    case inBlocks([IPPrefix])

    /// Whether the module may be used with an address of the target.
    public func allows(_ address: IPAddress) -> Bool {
      switch self {
      case .allowed: true
      case .denied: false
      case .inBlocks(let blocks): blocks.contains { $0.contains(address.unmapped) }
      }
    }
  }

  /// Decides about a target before it is resolved.
  ///
  /// A name is matched against the target's URL; blocks are matched against the address. Unicode needs no rule: targets
  /// are ASCII.
  func verdict(on target: CheckTarget) -> Verdict {
    switch self {
    case .any: return .allowed
    case .configuredTargets: return .denied
    case .hosts(let patterns):
      let fitting = patterns.filter { $0.hasEndpoint(of: target) }
      let blocks = fitting.compactMap { pattern -> IPPrefix? in
        if case .block(let block) = pattern.host { block } else { nil }
      }
      let byAddress = Verdict.inBlocks(blocks)
      if case .address(let address) = target.host.remote { return byAddress.allows(address) ? .allowed : .denied }
      guard let name = target.host.normalizedName else { return .denied }
      let isNamed = fitting.contains { pattern in
        switch pattern.host {
        case .name(let other): name == other
        case .suffix(let suffix): name.hasSuffix(suffix)
        case .block: false
        }
      }
      if isNamed { return .allowed }
      return blocks.isEmpty ? .denied : byAddress
    }
  }
}

extension CheckRequest {
  /// Whether the caller may use the module for a target: the request's own, or that of a redirect.
  ///
  /// A caller that chooses the interface or the source address chooses the network, where an address may be another
  /// host. Entries of `hosts` therefore apply only to the kernel's own choice.
  public func moduleVerdict(on target: CheckTarget) -> ModuleAccess.Verdict {
    if policy == nil || module.access == .any { return .allowed }
    if module.access == .configuredTargets, !module.options.value.sendsConfiguredData { return .allowed }
    guard interface == nil, source == nil else { return .denied }
    // The certificate proves this name instead of the target's, so the module must be permitted for it, too.
    if let hostname {
      var named = target
      guard let host = try? ReachabilityTarget(host: hostname) else { return .denied }
      named.host = host
      if module.access.verdict(on: named) == .denied { return .denied }
    }
    return module.access.verdict(on: target)
  }

  /// Whether the caller may use the module for the request's own target.
  public var moduleVerdict: ModuleAccess.Verdict { moduleVerdict(on: target) }
}
