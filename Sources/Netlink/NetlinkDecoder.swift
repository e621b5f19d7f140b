internal import CNetlink
internal import Glibc
internal import ReachabilityModel

/// Decodes messages of the kernel; never traps, for any input.
enum NetlinkDecoder {
  /// Visits the messages of a datagram in order.
  ///
  /// - Returns: false when a message is truncated or its length is invalid; the messages before it have been visited.
  @inline(__always)
  @discardableResult
  static func forEachMessage(in datagram: NetlinkBytes, _ body: (NetlinkMessage) -> Void) -> Bool {
    var position = 0
    while position < datagram.count {
      guard let length: UInt32 = datagram.load(position), let type: UInt16 = datagram.load(position + 4),
        let flags: UInt16 = datagram.load(position + 6), let sequence: UInt32 = datagram.load(position + 8),
        length >= NetlinkMessage.headerSize, let whole = datagram.slice(position, Int(length))
      else { return false }
      body(
        NetlinkMessage(
          type: Int(type), flags: Int32(flags), sequence: sequence, body: whole.dropFirst(NetlinkMessage.headerSize)))
      position += (Int(length) + 3) & ~3
    }
    return true
  }

  /// Decodes one message of a response; events only show that something changed (``NetlinkEventBatch``).
  static func content(of message: NetlinkMessage) -> NetlinkContent {
    switch message.type {
    case RTM_NEWLINK: link(message.body).map(NetlinkContent.link) ?? .malformed
    case RTM_NEWADDR: address(message.body).map(NetlinkContent.address) ?? .malformed
    case RTM_NEWROUTE: route(message.body).map(NetlinkContent.route) ?? .malformed
    case Int(NLMSG_ERROR): error(message).map(NetlinkContent.ack) ?? .malformed
    case Int(NLMSG_DONE): done(message).map(NetlinkContent.done) ?? .malformed
    default: .other
    }
  }

  /// Decodes `NLMSG_ERROR`: the errno, the header of the request, possibly its body, then the extended ack.
  private static func error(_ message: NetlinkMessage) -> NetlinkAck? {
    guard let code: Int32 = message.body.load(0) else { return nil }
    var offset = 4 + NetlinkMessage.headerSize
    if message.flags & Int32(NLM_F_CAPPED) == 0, let length: UInt32 = message.body.load(4) {
      // The whole message of the request precedes the attributes.
      offset = 4 + ((Int(length) + 3) & ~3)
    }
    return NetlinkAck(errno: magnitude(code), text: extendedText(message, from: offset))
  }

  /// Decodes `NLMSG_DONE`: a failed dump has a negative errno, a complete one 0 or a count.
  private static func done(_ message: NetlinkMessage) -> NetlinkAck? {
    guard let code: Int32 = message.body.load(0) else { return nil }
    return NetlinkAck(errno: code < 0 ? magnitude(code) : 0, text: extendedText(message, from: 4))
  }

  /// An errno without its sign; `Int32.min`, which the kernel never sends, must not trap.
  private static func magnitude(_ code: Int32) -> Int32 { Int32(clamping: code.magnitude) }

  private static func extendedText(_ message: NetlinkMessage, from offset: Int) -> String? {
    guard message.flags & Int32(NLM_F_ACK_TLVS) != 0 else { return nil }
    var text: String?
    message.body.forEachAttribute(from: offset) { type, payload in
      if type == Int(NLMSGERR_ATTR_MSG.rawValue) { text = payload.text }
    }
    return text
  }
}

// Links and addresses: struct ifinfomsg and struct ifaddrmsg of rtnetlink(7).
extension NetlinkDecoder {
  /// Decodes the body of `RTM_NEWLINK`; nil when it is malformed.
  static func link(_ body: NetlinkBytes) -> NetlinkLinkMessage? {
    guard let hardwareType: UInt16 = body.load(2), let index: UInt32 = body.load(4), let flags: UInt32 = body.load(8),
      body.count >= 16
    else { return nil }
    var interface = Interface(
      index: index, name: "", type: .other, flags: Interface.Flags(rawValue: flags), operationalState: .unknown, mtu: 0,
      hardwareType: hardwareType)
    var master: UInt32?
    var parent: String?
    var alternativeNames: [String] = []
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
      case IFLA_PROP_LIST:
        value.forEachAttribute { type, value in if type == IFLA_ALT_IFNAME { alternativeNames.append(value.text) } }
      default: break
      }
    }
    guard isComplete else { return nil }
    // Tunnels without a lower device report 0; some devices report their own index.
    if lowerIsElsewhere || interface.lowerIndex == 0 || interface.lowerIndex == index { interface.lowerIndex = nil }
    return NetlinkLinkMessage(
      interface: interface, masterIndex: master, alternativeNames: alternativeNames, parentDevice: parent)
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
