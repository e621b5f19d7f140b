/// The verdict for one target: the best of the verdicts for its addresses.
public struct HostVerdict: Hashable, Sendable {
  /// The target that was evaluated.
  public var target: ReachabilityTarget
  /// The path to the best address, or why there is none.
  public var path: NetworkPath {
    get { shared.value }
    set { shared = Shared(newValue) }
  }
  /// Each address with its own path; both families for the default path, none for the local link.
  public var addresses: [AddressVerdict]
  /// Whether a name's addresses are known.
  public var phase: Phase
  /// Stored by reference: after one change, ten thousand verdicts share the same path.
  private var shared: Shared<NetworkPath>

  /// One address with its path.
  public struct AddressVerdict: Hashable, Sendable {
    /// The address.
    public var address: IPAddress
    /// The path to the address.
    public var path: NetworkPath {
      get { shared.value }
      set { shared = Shared(newValue) }
    }
    private var shared: Shared<NetworkPath>

    /// Creates a verdict for an address.
    public init(address: IPAddress, path: NetworkPath) {
      self.init(address: address, path: Shared(path))
    }

    /// Creates a verdict with a path that other verdicts share.
    package init(address: IPAddress, path: Shared<NetworkPath>) {
      self.address = address
      shared = path
    }
  }

  /// How a name was evaluated.
  public enum Phase: String, Hashable, Sendable {
    /// By the default path only, because its addresses are not known.
    case optimistic
    /// By its addresses; also for every target that is not a name.
    case resolved
  }

  /// Creates a verdict from its parts.
  public init(target: ReachabilityTarget, path: NetworkPath, addresses: [AddressVerdict] = [], phase: Phase = .resolved)
  {
    self.init(target: target, path: Shared(path), addresses: addresses, phase: phase)
  }

  /// Creates a verdict with a path that other verdicts share.
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
  /// Creates the verdict for a target from those for its addresses: the highest rank, the first on a tie.
  public init(target: ReachabilityTarget, best addresses: [AddressVerdict], phase: Phase = .resolved) {
    var best = addresses.first?.path ?? .unknown(.starting)
    for address in addresses where address.path.rank > best.rank { best = address.path }
    self.init(target: target, path: best, addresses: addresses, phase: phase)
  }
}

/// The resolution state of a name.
public enum NameResolution: Hashable, Sendable {
  /// There is no answer yet, or the name was not looked up.
  case pending
  /// The name's addresses, never empty.
  case addresses([IPAddress])
  /// The name does not exist or has no address.
  case notFound
  /// The servers failed, for this reason; the verdict stays optimistic.
  case failed(Reason)
}
