internal import CNetlink
internal import Glibc
internal import ReachabilityModel

// Decodes only the blocks of routes and rules: most of a large table is not needed beyond that.
extension NetlinkDecoder {
  /// The block and the table of `RTM_NEWROUTE` and `RTM_DELROUTE`; nil when the body is malformed or of another family.
  static func routeBlock(_ body: NetlinkBytes) -> RouteChanges.Block? {
    guard let family = body.load(0).flatMap(IPAddress.Family.init), let length: UInt8 = body.load(1),
      let shortTable: UInt8 = body.load(4)
    else { return nil }
    var table = UInt32(shortTable)
    var destination: IPAddress?
    let isComplete = body.forEachAttribute(from: 12) { type, value in
      if type == Int(RTA_TABLE.rawValue) { table = value.load(0) ?? table }
      if type == Int(RTA_DST.rawValue) { destination = value.address }
    }
    guard isComplete, let prefix = block(destination, family, length) else { return nil }
    return RouteChanges.Block(prefix, table: table)
  }

  /// The block of a policy rule (`RTM_NEWRULE`, struct fib_rule_hdr); the whole family if it applies to every
  /// destination.
  static func ruleBlock(_ body: NetlinkBytes) -> RouteChanges.Block? {
    guard let family = body.load(0).flatMap(IPAddress.Family.init), let length: UInt8 = body.load(1) else { return nil }
    var destination: IPAddress?
    body.forEachAttribute(from: 12) { type, value in
      if type == FRA_DST { destination = value.address }
    }
    return block(destination, family, length).map { RouteChanges.Block($0, table: 0) }
  }

  private static func block(_ destination: IPAddress?, _ family: IPAddress.Family, _ length: UInt8) -> IPPrefix? {
    let destination = destination ?? IPAddress(family, number: 0)
    return destination.family == family ? IPPrefix(destination, length: length).block : nil
  }
}
