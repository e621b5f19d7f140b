/// A network interface as the kernel describes it (rtnetlink `RTM_NEWLINK`, rtnetlink(7)), with a derived type.
public struct Interface: Hashable, Sendable {
  /// The interface index; not reused for another device while this one exists.
  public var index: UInt32
  /// The name, `eth0`; it can change.
  public var name: String
  /// The medium, see ``InterfaceType``; setting it sets ``isWWAN`` and ``isExpensive`` to match.
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
  /// The index of the lower device (VLAN, MACVLAN …); nil when there is none or it is in another namespace.
  public var lowerIndex: UInt32?
  /// The index of the VRF that the interface is, or is a member of (ip-vrf(8)); nil for the default VRF.
  package var vrfIndex: UInt32?
  /// `IFLA_INFO_KIND`: `veth`, `bridge`, `tun` …; nil for a physical device.
  public var kind: String?
  /// The ARPHRD hardware type number (`linux/if_arp.h`).
  public var hardwareType: UInt16
  /// Whether packets leave through a cellular modem: directly, or through a tunnel whose packets do.
  public var isWWAN: Bool
  /// Whether traffic is billed by volume: cellular, unless the configuration overrides it (NWPath's `isExpensive`).
  public var isExpensive: Bool
  /// Whether traffic should be kept low; set by the configuration only (NWPath's `isConstrained`).
  public var isConstrained = false
  /// Whether the configuration sets the cost here, so that a tunnel does not inherit it from the lower device.
  public var hasDeclaredCost = false

  /// Creates an interface from its properties.
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

  /// The `IFF_*` bits that affect verdicts (`linux/if.h`).
  public struct Flags: OptionSet, Hashable, Sendable {
    /// The bits as the kernel sends them.
    public let rawValue: UInt32
    /// Creates flags from the kernel's bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    /// `IFF_UP`: enabled by the administrator.
    public static let up = Flags(rawValue: 1 << 0)
    /// `IFF_LOOPBACK`.
    public static let loopback = Flags(rawValue: 1 << 3)
    /// `IFF_POINTOPOINT`: one peer, no neighbour discovery.
    public static let pointToPoint = Flags(rawValue: 1 << 4)
    /// `IFF_RUNNING`: RFC 2863 operational.
    public static let running = Flags(rawValue: 1 << 6)
    /// `IFF_LOWER_UP`: the device has a carrier.
    public static let lowerUp = Flags(rawValue: 1 << 16)
    /// `IFF_DORMANT`: waits for an external event, such as 802.1X.
    public static let dormant = Flags(rawValue: 1 << 17)
  }

  /// RFC 2863 `ifOperStatus`, numbered as `IFLA_OPERSTATE`.
  public enum OperationalState: UInt8, Hashable, Sendable, CaseIterable {
    /// The driver does not report a state; loopback and TUN devices stay in this one.
    case unknown = 0
    /// A component is missing.
    case notPresent = 1
    /// No carrier, or disabled.
    case down = 2
    /// The lower device is down.
    case lowerLayerDown = 3
    /// Test mode; no packets pass.
    case testing = 4
    /// Waits for an external event.
    case dormant = 5
    /// Passes packets.
    case up = 6
  }
}

/// The medium of an interface.
public enum InterfaceType: String, Hashable, Sendable, CaseIterable {
  /// Wired, or virtual Ethernet as in a container.
  case ethernet
  /// IEEE 802.11.
  case wifi
  /// A cellular modem.
  case wwan
  /// A PPP link that is not known to be cellular.
  case ppp
  /// A tunnel or VPN device.
  case tunnel
  /// The loopback device.
  case loopback
  /// None of these.
  case other
}

/// Whether an interface can pass packets.
package enum InterfaceUsability: Hashable, Sendable {
  /// It can pass packets.
  case usable
  /// It waits for an external event (RFC 2863 dormant): a connection must be established first.
  case dormant
  case adminDown
  /// It is enabled but has no carrier, or the lower device is down.
  case linkDown
}

extension Interface {
  /// Whether packets can leave through this interface now.
  ///
  /// The state `unknown` counts as usable with a carrier or with `IFF_RUNNING`, because drivers without operational
  /// states (loopback, TUN, many VPN devices) never report another one.
  package var usability: InterfaceUsability {
    guard flags.contains(.up) else { return .adminDown }
    switch operationalState {
    case .up: return .usable
    case .dormant: return .dormant
    case .unknown: return flags.isDisjoint(with: [.running, .lowerUp]) ? .linkDown : .usable
    case .notPresent, .down, .lowerLayerDown, .testing: return .linkDown
    }
  }

  /// Whether SCNetworkReachability calls it transient: PPP, cellular, tunnels, any point-to-point device.
  public var isTransient: Bool {
    flags.contains(.pointToPoint) || isWWAN || [.ppp, .wwan, .tunnel].contains(type)
  }
}
