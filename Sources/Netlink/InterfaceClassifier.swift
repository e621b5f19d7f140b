internal import ReachabilityModel

/// Determines the type of an interface from what the kernel reports about it.
///
/// The order matters: a modem may look like a TUN device, a Wi-Fi card like Ethernet, and a VLAN like any device.
struct InterfaceClassifier {
  private var sysfs: SysfsReader
  private let overrides: [InterfaceOverride]

  /// A classifier.
  ///
  /// - Parameters:
  ///   - sysfsRoot: `/sys/class/net`, or a directory with the same structure.
  ///   - overrides: the configured types and costs, which take precedence.
  init(sysfsRoot: String, overrides: [InterfaceOverride] = []) {
    sysfs = SysfsReader(root: sysfsRoot)
    self.overrides = overrides
  }

  /// The interfaces with their types.
  mutating func classify(_ links: [NetlinkLinkMessage]) -> [Interface] {
    sysfs.removeAll(except: links)
    let table = Dictionary(links.map { ($0.interface.index, $0) }, uniquingKeysWith: { first, _ in first })
    return links.map { link in
      var interface = link.interface
      var visited: Set<UInt32> = []
      interface.type = type(of: link, in: table, &visited)
      let vrf = [link, link.masterIndex.flatMap { table[$0] }].compactMap(\.self).first { $0.interface.kind == "vrf" }
      interface.vrfIndex = vrf?.interface.index
      let said = overrides.combined(for: interface.name)
      interface.isExpensive = said.isExpensive ?? interface.isExpensive
      interface.isConstrained = said.isConstrained ?? false
      interface.hasDeclaredCost = said.isExpensive != nil || said.isConstrained != nil
      return interface
    }
  }

  private mutating func type(
    of link: NetlinkLinkMessage, in table: [UInt32: NetlinkLinkMessage], _ visited: inout Set<UInt32>
  ) -> InterfaceType {
    if let type = ownType(of: link) { return type }
    let interface = link.interface
    if let kind = interface.kind, Self.stackedKinds.contains(kind) {
      // Two devices may refer to each other (a veth pair within one namespace).
      visited.insert(interface.index)
      for lower in lowerLinks(of: link, in: table) where !visited.contains(lower.interface.index) {
        return type(of: lower, in: table, &visited)
      }
      return .ethernet
    }
    if Self.cellularPrefixes.contains(where: interface.name.hasPrefix) { return .wwan }
    return interface.hardwareType == Hardware.ether ? .ethernet : .other
  }

  /// The type that the device itself indicates; nil for Ethernet, stacked and unknown devices.
  private mutating func ownType(of link: NetlinkLinkMessage) -> InterfaceType? {
    let interface = link.interface
    if let type = overrides.combined(for: interface.name).type { return type }
    if interface.flags.contains(.loopback) || interface.hardwareType == Hardware.loopback { return .loopback }
    if let kind = interface.kind, ["wwan", "rmnet"].contains(kind) { return .wwan }
    switch interface.hardwareType {
    case Hardware.ppp: return .ppp
    case Hardware.rawIP, Hardware.outOfTreeRawIP: return .wwan
    default: break
    }
    switch sysfs.deviceType(index: interface.index, name: interface.name) {
    case .wlan: return .wifi
    case .wwan: return .wwan
    case nil: break
    }
    if let kind = interface.kind, Self.tunnelKinds.contains(kind) { return .tunnel }
    return Hardware.tunnels.contains(interface.hardwareType) ? .tunnel : nil
  }

  /// The links below a stacked device: its lower device, or else its members, physical devices first.
  ///
  /// A bridge has the uplink and many taps and veths of guests as members; only the uplink carries packets off the
  /// host.
  private func lowerLinks(of link: NetlinkLinkMessage, in table: [UInt32: NetlinkLinkMessage]) -> [NetlinkLinkMessage] {
    if let lower = link.interface.lowerIndex.flatMap({ table[$0] }) { return [lower] }
    let members = table.values.filter { member in
      member.masterIndex == link.interface.index && !Self.tunnelKinds.contains(member.interface.kind ?? "")
    }
    return members.sorted { ($0.isVirtual ? 1 : 0, $0.interface.index) < ($1.isVirtual ? 1 : 0, $1.interface.index) }
  }

  /// `ARPHRD_*` of linux/if_arp.h, which cannot be imported together with net/if.h.
  private enum Hardware {
    static let ether: UInt16 = 1
    static let ppp: UInt16 = 512
    static let rawIP: UInt16 = 519
    /// The number that Qualcomm's out-of-tree drivers use.
    static let outOfTreeRawIP: UInt16 = 530
    static let loopback: UInt16 = 772
    /// TUNNEL, TUNNEL6, SIT, IPGRE, IP6GRE, NONE (WireGuard, TUN).
    static let tunnels: Set<UInt16> = [768, 769, 776, 778, 823, 65534]
  }

  /// `IFLA_INFO_KIND` of devices that encapsulate packets or pass them to a program.
  private static let tunnelKinds: Set<String> = [
    "tun", "wireguard", "ipip", "sit", "ip6tnl", "gre", "gretap", "ip6gre", "ip6gretap", "erspan", "ip6erspan", "vti",
    "vti6", "xfrm", "ovpn", "vxlan", "geneve", "gtp", "bareudp", "amt",
  ]

  /// `IFLA_INFO_KIND` of devices that are stacked on other devices.
  private static let stackedKinds: Set<String> = [
    "bridge", "vlan", "macvlan", "macvtap", "ipvlan", "ipvtap", "macsec", "bond", "team", "veth", "netkit", "hsr",
    "dsa",
  ]

  /// Prefixes of the names that drivers and systemd assign to modems.
  private static let cellularPrefixes = ["wwan", "wwp", "wws", "rmnet", "ccmni"]
}

extension NetlinkLinkMessage {
  /// True for devices without hardware.
  fileprivate var isVirtual: Bool { parentDevice == nil && interface.kind != nil }
}
