internal import CNetlink
internal import Glibc
internal import ReachabilityModel

/// One message of a datagram, its body not yet decoded (`struct nlmsghdr`, netlink(7)).
struct NetlinkMessage {
  /// `RTM_*` or `NLMSG_*`.
  var type: Int
  /// `NLM_F_*`.
  var flags: Int32
  /// The number of the request that this answers; 0 in events.
  var sequence: UInt32
  /// What follows the header.
  var body: NetlinkBytes

  /// The length of a header.
  static let headerSize = 16

  /// True when a change interrupted the dump that this belongs to, so that it may have holes.
  var isInterrupted: Bool { flags & Int32(NLM_F_DUMP_INTR) != 0 }
}

/// The answer to a request that brings no object (`struct nlmsgerr`).
struct NetlinkAck: Equatable {
  /// The errno, 0 for success.
  var errno: Int32
  /// What the kernel says about it (`NLMSGERR_ATTR_MSG`); nil when it says nothing.
  var text: String?
}

/// A link as rtnetlink describes it (`struct ifinfomsg`), with what the classifier needs beside the model's fields.
struct LinkMessage: Hashable {
  /// The model's view; its type is not known yet.
  var interface: Interface
  /// The bridge, bond or VRF that it is a part of.
  var masterIndex: UInt32?
  /// The bus device that it stands for, such as `virtio2`; nil for virtual devices and old kernels.
  var parentDevice: String?
}

/// A route as rtnetlink describes it (`struct rtmsg`).
struct RouteMessage: Hashable {
  /// The model's view.
  var route: Route
  /// The nexthop object it uses; nil when the ways out are its own.
  var nexthopObject: UInt32?
}

/// What a message says.
enum NetlinkContent: Equatable {
  case link(LinkMessage)
  case address(InterfaceAddress)
  case route(RouteMessage)
  /// An answer without an object; success too.
  case ack(NetlinkAck)
  /// The end of a dump.
  case done(NetlinkAck)
  /// A type that is no answer to what we ask.
  case other
  /// A body too short for its type, or with impossible attributes.
  case malformed
}
