/// For which targets a caller may use a module that sends something of the configuration file: a header field, a body, a
/// text, a name.
///
/// What a module sends may be a secret, and a caller may choose the server. Targets of the configuration file may use every
/// module (``CheckRequest/policy`` is nil).
public enum ModuleAccess: Hashable, Sendable {
  /// Targets of the configuration file only, unless the module sends nothing of the file.
  case configuredTargets
  /// Targets that one of these patterns matches.
  case hosts([HostPattern])
  /// All targets that the ``ContactPolicy`` allows.
  case any

  /// Whether a module may be used for a target.
  public enum Verdict: Hashable, Sendable {
    /// It may.
    case allowed
    /// It may not.
    case denied
    /// It may where the address that is connected to is in one of these blocks.
    case inBlocks([IPPrefix])

    /// Whether the module may send to an address of the target.
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
  /// A name matches by what the target's URL says; blocks decide by the address. Unicode needs no rule: targets are ASCII.
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

extension CheckModule {
  /// Whether its requests contain something that the configuration file gave.
  ///
  /// Not a secret: the method, which is letters only, the sizes and counts, and what is expected of answers.
  var sendsConfiguredData: Bool {
    switch options {
    case .route, .icmp: false
    case .tcp(let options): options.send != nil
    case .http(let options): !options.headers.isEmpty || options.body != nil || options.tls.serverName != nil
    case .tls(let options): options.serverName != nil
    case .dns(let options): options.question != nil
    }
  }
}

extension CheckRequest {
  /// Whether whoever asks may use the module for a target: for the request's own, or for where a redirect leads.
  ///
  /// A caller that chooses the interface or the source address chooses the network: an address there may be another host.
  /// Entries of `hosts` are therefore for the kernel's own choice only.
  public func moduleVerdict(on target: CheckTarget) -> ModuleAccess.Verdict {
    if policy == nil || module.access == .any { return .allowed }
    if module.access == .configuredTargets, !module.sendsConfiguredData { return .allowed }
    guard interface == nil, source == nil else { return .denied }
    return module.access.verdict(on: target)
  }

  /// The same for the request's own target.
  public var moduleVerdict: ModuleAccess.Verdict { moduleVerdict(on: target) }
}
