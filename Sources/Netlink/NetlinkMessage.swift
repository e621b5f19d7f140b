internal import CNetlink
internal import Glibc
internal import ReachabilityModel

/// One message of a datagram, its body not yet decoded (`struct nlmsghdr`, netlink(7)).
struct NetlinkMessage {
  /// `RTM_*` or `NLMSG_*`.
  var type: Int
  /// `NLM_F_*`.
  var flags: Int32
  /// The sequence number of the request that this message answers; 0 in events.
  var sequence: UInt32
  /// The bytes after the header.
  var body: NetlinkBytes

  static let headerSize = 16

  /// True when a change interrupted the dump, so that the dump may be inconsistent.
  var isInterrupted: Bool { flags & Int32(NLM_F_DUMP_INTR) != 0 }
}

/// A response without an object (`struct nlmsgerr`).
struct NetlinkAck: Equatable {
  /// The errno, 0 for success.
  var errno: Int32
  /// The kernel's text for the error (`NLMSGERR_ATTR_MSG`); nil without one.
  var text: String?
}

/// A link as rtnetlink describes it (`struct ifinfomsg`), with the fields that only the classifier needs.
struct NetlinkLinkMessage: Hashable {
  /// The model's view; its type is not set yet.
  var interface: Interface
  /// The bridge, bond or VRF that the link belongs to.
  var masterIndex: UInt32?
  /// The alternative names of the link (ip-link(8), `altname`).
  var alternativeNames: [String] = []
  /// The bus device of the link, such as `virtio2`; nil for virtual devices and old kernels.
  var parentDevice: String?
}

/// A route as rtnetlink describes it (`struct rtmsg`).
struct NetlinkRouteMessage: Hashable {
  /// The model's view.
  var route: Route
  /// The nexthop object that the route uses; nil when the route has next hops of its own.
  var nexthopObject: UInt32?
}

enum NetlinkContent: Equatable {
  case link(NetlinkLinkMessage)
  case address(InterfaceAddress)
  case route(NetlinkRouteMessage)
  /// A response without an object, including success.
  case ack(NetlinkAck)
  /// The end of a dump.
  case done(NetlinkAck)
  /// A type that no request of ours is answered with.
  case other
  /// A body that is too short for its type, or has invalid attributes.
  case malformed
}
