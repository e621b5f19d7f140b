/// A network interface as the kernel describes it (rtnetlink `RTM_NEWLINK`, rtnetlink(7)), and the type we derive.
public struct Interface: Hashable, Sendable {
  /// The interface index, the kernel's own name for it; never reused for another device while it lives.
  public var index: UInt32
  /// The name, `eth0`; it can change.
  public var name: String
  /// What carries the packets, see ``InterfaceType``.
  public var type: InterfaceType
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
    flags.contains(.pointToPoint) || [.ppp, .wwan, .tunnel].contains(type)
  }
}

/// An address on an interface (`RTM_NEWADDR`).
public struct InterfaceAddress: Hashable, Sendable {
  /// The index of the interface that owns it.
  public var interfaceIndex: UInt32
  /// The address and the length of its on-link prefix.
  public var prefix: IPPrefix
  /// `IFA_F_*` bits (`linux/if_addr.h`).
  public var flags: Flags

  /// An address from its facts.
  public init(interfaceIndex: UInt32, prefix: IPPrefix, flags: Flags = []) {
    self.interfaceIndex = interfaceIndex
    self.prefix = prefix
    self.flags = flags
  }

  /// The address itself.
  public var address: IPAddress { prefix.address }

  /// False while duplicate address detection runs or after it failed (RFC 4862 §5.4): the kernel sends nothing from it.
  public var isUsable: Bool {
    !flags.contains(.dadFailed) && (!flags.contains(.tentative) || flags.contains(.optimistic))
  }

  /// The `IFA_F_*` bits that decide something here.
  public struct Flags: OptionSet, Hashable, Sendable {
    /// The bits as the kernel sends them.
    public let rawValue: UInt32
    /// Flags from the kernel's bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    /// `IFA_F_OPTIMISTIC`: may be used before detection ends (RFC 4429).
    public static let optimistic = Flags(rawValue: 0x04)
    /// `IFA_F_DADFAILED`: another machine has it.
    public static let dadFailed = Flags(rawValue: 0x08)
    /// `IFA_F_DEPRECATED`: not for new connections, though usable when nothing else is there.
    public static let deprecated = Flags(rawValue: 0x20)
    /// `IFA_F_TENTATIVE`: duplicate address detection runs.
    public static let tentative = Flags(rawValue: 0x40)
  }
}
