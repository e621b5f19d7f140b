internal import CNetlink
internal import Glibc
internal import ReachabilityModel

// Links and addresses: struct ifinfomsg and struct ifaddrmsg of rtnetlink(7).
extension NetlinkDecoder {
  /// Decodes the body of `RTM_NEWLINK`; nil when it is malformed.
  static func link(_ body: NetlinkBytes) -> LinkMessage? {
    guard let hardwareType: UInt16 = body.load(2), let index: UInt32 = body.load(4), let flags: UInt32 = body.load(8),
      body.count >= 16
    else { return nil }
    var interface = Interface(
      index: index, name: "", type: .other, flags: Interface.Flags(rawValue: flags), operationalState: .unknown, mtu: 0,
      hardwareType: hardwareType)
    var master: UInt32?
    var parent: String?
    var lowerIsElsewhere = false
    let isComplete = body.forEachAttribute(from: 16) { type, value in
      switch type {
      case IFLA_IFNAME: interface.name = value.text
      case IFLA_MTU: interface.mtu = value.load(0) ?? 0
      case IFLA_LINK: interface.lowerIndex = value.load(0)
      case IFLA_LINK_NETNSID: lowerIsElsewhere = true
      case IFLA_MASTER: master = value.load(0)
      // An operational state that this version does not support must not make the link appear down.
      case IFLA_OPERSTATE:
        interface.operationalState = value.load(0).flatMap(Interface.OperationalState.init) ?? .unknown
      case IFLA_LINKINFO: interface.kind = kind(value)
      case IFLA_PARENT_DEV_NAME: parent = value.text
      default: break
      }
    }
    guard isComplete else { return nil }
    // Tunnels without a lower device report 0; some devices report their own index.
    if lowerIsElsewhere || interface.lowerIndex == 0 || interface.lowerIndex == index { interface.lowerIndex = nil }
    return LinkMessage(interface: interface, masterIndex: master, parentDevice: parent)
  }

  private static func kind(_ linkInfo: NetlinkBytes) -> String? {
    var kind: String?
    linkInfo.forEachAttribute { type, value in
      if type == IFLA_INFO_KIND { kind = value.text }
    }
    return kind
  }

  /// Decodes the body of `RTM_NEWADDR` and `RTM_DELADDR`; nil when it is malformed or of another family.
  static func address(_ body: NetlinkBytes) -> InterfaceAddress? {
    guard let length: UInt8 = body.load(1), let oldFlags: UInt8 = body.load(2), let index: UInt32 = body.load(4)
    else { return nil }
    var own: IPAddress?
    var peer: IPAddress?
    var flags = UInt32(oldFlags)
    let isComplete = body.forEachAttribute(from: 8) { type, value in
      switch type {
      // On a point-to-point link IFA_ADDRESS is the peer; IFA_LOCAL, if present, is always the local address.
      case IFA_LOCAL: own = value.address
      case IFA_ADDRESS: peer = value.address
      case IFA_FLAGS: flags = value.load(0) ?? flags
      default: break
      }
    }
    guard isComplete, let address = own ?? peer else { return nil }
    return InterfaceAddress(
      interfaceIndex: index, prefix: IPPrefix(address, length: length), flags: InterfaceAddress.Flags(rawValue: flags))
  }
}
