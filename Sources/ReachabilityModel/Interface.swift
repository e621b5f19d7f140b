/// A network interface as the kernel describes it (rtnetlink `RTM_NEWLINK`, rtnetlink(7)), and the type we derive.
public struct Interface: Hashable, Sendable {
  /// The interface index, the kernel's own name for it; never reused for another device while it lives.
  public var index: UInt32
  /// The name, `eth0`; it can change.
  public var name: String
  /// What carries the packets, see ``InterfaceType``; setting it sets ``isWWAN`` and ``isExpensive`` as they follow from it.
  public var type: InterfaceType {
    didSet {
      isWWAN = type == .wwan
      isExpensive = type == .wwan
    }
  }
  /// `IFF_*` bits (netdevice(7)).
  public var flags: Flags
  /// RFC 2863 operational state.
  public var operationalState: OperationalState
  /// Maximum transmission unit in bytes.
  public var mtu: UInt32
  /// The index of the device beneath (VLAN, MACVLAN …); nil when there is none or it lives in another namespace.
  public var lowerIndex: UInt32?
  /// `IFLA_INFO_KIND`: `veth`, `bridge`, `tun` …; nil for a real device.
  public var kind: String?
  /// The ARPHRD hardware type number (`linux/if_arp.h`).
  public var hardwareType: UInt16
  /// Whether packets leave over a cellular modem: through one, or through a tunnel whose own packets do.
  public var isWWAN: Bool
  /// Whether traffic costs by its volume: cellular, unless a configuration says otherwise (NWPath's `isExpensive`).
  public var isExpensive: Bool
  /// Whether traffic is to be kept low, which only a configuration says (NWPath's `isConstrained`).
  public var isConstrained = false
  /// Whether a configuration says what traffic costs here, so that a tunnel takes nothing from the device beneath.
  public var hasDeclaredCost = false

  /// An interface from its facts.
  public init(
    index: UInt32, name: String, type: InterfaceType, flags: Flags, operationalState: OperationalState,
    mtu: UInt32 = 1500, lowerIndex: UInt32? = nil, kind: String? = nil, hardwareType: UInt16 = 1
  ) {
    self.index = index
    self.name = name
    self.type = type
    self.flags = flags
    self.operationalState = operationalState
    self.mtu = mtu
    self.lowerIndex = lowerIndex
    self.kind = kind
    self.hardwareType = hardwareType
    isWWAN = type == .wwan
    isExpensive = type == .wwan
  }

  /// The `IFF_*` bits that decide something here (`linux/if.h`).
  public struct Flags: OptionSet, Hashable, Sendable {
    /// The bits as the kernel sends them.
    public let rawValue: UInt32
    /// Flags from the kernel's bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    /// `IFF_UP`: switched on by the administrator.
    public static let up = Flags(rawValue: 1 << 0)
    /// `IFF_LOOPBACK`.
    public static let loopback = Flags(rawValue: 1 << 3)
    /// `IFF_POINTOPOINT`: one peer, no neighbours.
    public static let pointToPoint = Flags(rawValue: 1 << 4)
    /// `IFF_RUNNING`: RFC 2863 operational.
    public static let running = Flags(rawValue: 1 << 6)
    /// `IFF_LOWER_UP`: the carrier is there.
    public static let lowerUp = Flags(rawValue: 1 << 16)
    /// `IFF_DORMANT`: waits for an external event, such as 802.1X.
    public static let dormant = Flags(rawValue: 1 << 17)
  }

  /// RFC 2863 `ifOperStatus`, numbered as `IFLA_OPERSTATE`.
  public enum OperationalState: UInt8, Hashable, Sendable, CaseIterable {
    /// The driver does not say; loopback and TUN devices stay here.
    case unknown = 0
    /// A part is missing.
    case notPresent = 1
    /// No carrier, or switched off.
    case down = 2
    /// The device beneath is down.
    case lowerLayerDown = 3
    /// In a test mode, passes no packets.
    case testing = 4
    /// Waits for an external event.
    case dormant = 5
    /// Passes packets.
    case up = 6
  }
}

/// What carries an interface's packets.
public enum InterfaceType: String, Hashable, Sendable, CaseIterable {
  /// Wired, or virtual Ethernet that stands for the wire inside a container.
  case ethernet
  /// IEEE 802.11.
  case wifi
  /// A cellular modem.
  case wwan
  /// A PPP link that is not known to be cellular.
  case ppp
  /// A tunnel or VPN device.
  case tunnel
  /// This machine itself.
  case loopback
  /// None of these.
  case other
}

/// Whether an interface can pass packets now.
public enum Usability: Hashable, Sendable {
  /// It can.
  case usable
  /// It waits for an event from outside (RFC 2863 dormant): a connection must be made first.
  case dormant
  /// It is switched off.
  case adminDown
  /// It is on but has no carrier, or the device beneath is down.
  case linkDown
}

extension Interface {
  /// Whether packets can leave through this interface now.
  ///
  /// A state of `unknown` counts as usable with a carrier or with `IFF_RUNNING`: drivers without operational states
  /// (loopback, TUN, many VPN devices) never say more.
  public var usability: Usability {
    guard flags.contains(.up) else { return .adminDown }
    switch operationalState {
    case .up: return .usable
    case .dormant: return .dormant
    case .unknown: return flags.isDisjoint(with: [.running, .lowerUp]) ? .linkDown : .usable
    case .notPresent, .down, .lowerLayerDown, .testing: return .linkDown
    }
  }

  /// True for what SCNetworkReachability calls transient: PPP, cellular, tunnels, any point-to-point device.
  public var isTransient: Bool {
    flags.contains(.pointToPoint) || isWWAN || [.ppp, .wwan, .tunnel].contains(type)
  }
}
