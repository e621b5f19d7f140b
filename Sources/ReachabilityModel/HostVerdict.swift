/// The verdict over one target: the best of its addresses.
public struct HostVerdict: Hashable, Sendable {
  /// What was asked about.
  public var target: ReachabilityTarget
  /// The way to the best address, or why there is none.
  public var path: NetworkPath {
    get { shared.value }
    set { shared = Shared(newValue) }
  }
  /// Each address with its own way; both families for the default path, none for the local link.
  public var addresses: [AddressVerdict]
  /// Whether a name's addresses are known.
  public var phase: Phase
  /// By reference: of ten thousand verdicts after one change all have the same.
  private var shared: Shared<NetworkPath>

  /// One address with its way.
  public struct AddressVerdict: Hashable, Sendable {
    /// The address.
    public var address: IPAddress
    /// The way to it.
    public var path: NetworkPath {
      get { shared.value }
      set { shared = Shared(newValue) }
    }
    private var shared: Shared<NetworkPath>

    /// An address with its way.
    public init(address: IPAddress, path: NetworkPath) {
      self.init(address: address, path: Shared(path))
    }

    /// An address with a way that others have, too.
    package init(address: IPAddress, path: Shared<NetworkPath>) {
      self.address = address
      shared = path
    }
  }

  /// How a name was judged.
  public enum Phase: String, Hashable, Sendable {
    /// By the default path alone, because its addresses are not known.
    case optimistic
    /// By its addresses; also every target that is no name.
    case resolved
  }

  /// A verdict from its parts.
  public init(target: ReachabilityTarget, path: NetworkPath, addresses: [AddressVerdict] = [], phase: Phase = .resolved)
  {
    self.init(target: target, path: Shared(path), addresses: addresses, phase: phase)
  }

  /// A verdict with a way that others have, too.
  package init(
    target: ReachabilityTarget, path: Shared<NetworkPath>, addresses: [AddressVerdict] = [], phase: Phase = .resolved
  ) {
    self.target = target
    self.addresses = addresses
    self.phase = phase
    shared = path
  }
}

extension HostVerdict {
  /// The verdict over a target from those over its addresses: the one that comes furthest, the first on a tie.
  public init(target: ReachabilityTarget, best addresses: [AddressVerdict], phase: Phase = .resolved) {
    var best = addresses.first?.path ?? .unknown(.starting)
    for address in addresses where address.path.rank > best.rank { best = address.path }
    self.init(target: target, path: best, addresses: addresses, phase: phase)
  }
}

/// What the resolver knows about a name.
public enum NameResolution: Hashable, Sendable {
  /// Nothing yet, or it was not asked.
  case pending
  /// The name's addresses, never empty.
  case addresses([IPAddress])
  /// The name does not exist, or has no address.
  case notFound
  /// The servers failed, for this reason; the verdict stays optimistic.
  case failed(Reason)
}
