/// The verdict for one target: the best of the verdicts for its addresses.
public struct HostVerdict: Sendable {
  /// The target that was evaluated.
  public var target: ReachabilityTarget {
    get { evaluated }
    set {
      list = addresses
      evaluated = newValue
    }
  }
  /// The path to the best address, or why there is none.
  public var path: NetworkPath {
    get { shared.value }
    set {
      list = addresses
      shared = SharedValue(newValue)
    }
  }
  /// Each address with its own path; both families for the default path, none for the local link.
  public var addresses: [AddressVerdict] {
    get { list ?? evaluated.address.map { [AddressVerdict(address: $0, path: shared)] } ?? [] }
    set { list = newValue }
  }
  /// Whether a name's addresses are known.
  public var phase: Phase
  /// The number of the name's addresses that were not evaluated, because it has too many.
  public var addressesOmitted: Int {
    get { Int(omitted) }
    set { omitted = UInt16(clamping: newValue) }
  }
  private var omitted: UInt16 = 0
  /// Stored by reference: after one change, ten thousand verdicts share the same path.
  private var shared: SharedValue<NetworkPath>
  private var evaluated: ReachabilityTarget
  /// Nil when ``addresses`` has only the target's own address: ten thousand such verdicts need no allocation.
  private var list: [AddressVerdict]?

  /// One address with its path.
  public struct AddressVerdict: Hashable, Sendable {
    /// The address.
    public var address: IPAddress
    /// The path to the address.
    public var path: NetworkPath {
      get { shared.value }
      set { shared = SharedValue(newValue) }
    }
    private var shared: SharedValue<NetworkPath>

    /// Creates a verdict for an address.
    public init(address: IPAddress, path: NetworkPath) {
      self.init(address: address, path: SharedValue(path))
    }

    /// Creates a verdict with a path that other verdicts share.
    package init(address: IPAddress, path: SharedValue<NetworkPath>) {
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
    self.init(target: target, path: SharedValue(path), addresses: addresses, phase: phase)
  }

  private init(target: ReachabilityTarget, path: SharedValue<NetworkPath>, addresses: [AddressVerdict], phase: Phase) {
    evaluated = target
    list = addresses
    self.phase = phase
    shared = path
  }

  /// Creates the verdict for a target that is an address, with a path that other verdicts share.
  package init(of target: ReachabilityTarget, path: SharedValue<NetworkPath>) {
    evaluated = target
    phase = .resolved
    shared = path
  }
}

extension HostVerdict: Hashable {
  /// Whether all properties are equal, however they are stored.
  public static func == (left: HostVerdict, right: HostVerdict) -> Bool {
    guard left.phase == right.phase, left.shared == right.shared, left.evaluated == right.evaluated,
      left.omitted == right.omitted
    else {
      return false
    }
    return left.list == nil && right.list == nil || left.addresses == right.addresses
  }

  /// Hashes the properties that usually differ.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(evaluated)
    hasher.combine(shared)
    hasher.combine(phase)
  }
}

extension ReachabilityTarget {
  /// The address, if the target is one.
  fileprivate var address: IPAddress? { if case .address(let address) = remote { address } else { nil } }
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
  /// The name's addresses, never empty, and the number of those that are left out.
  case addresses([IPAddress], omitted: Int = 0)
  /// The name does not exist or has no address.
  case notFound
  /// The servers failed, for this reason; the verdict stays optimistic.
  case failed(Reason)

  /// The number of addresses that are left out.
  package var omitted: Int { if case .addresses(_, let omitted) = self { omitted } else { 0 } }
}
