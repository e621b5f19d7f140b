internal import CNetlink
internal import Glibc
internal import ReachabilityModel

extension NetlinkQueries {
  /// Reads the blocks of all routes of all tables, and of all policy rules, of both families.
  func routeBlocks() throws(KernelError) -> Set<RouteChanges.Block> {
    var blocks: Set<RouteChanges.Block> = []
    for family in IPAddress.Family.allCases {
      // A dump that is begun again leaves blocks of routes that went meanwhile; those do no harm.
      try dump("dump RTM_GETROUTE", RTM_GETROUTE) { request in
        // struct rtmsg, all zero but the family.
        request.append(UInt32(family.rawValue))
        request.append(UInt64(0))
      } body: { message in
        guard message.type == RTM_NEWROUTE else { return true }
        guard let block = NetlinkDecoder.routeBlock(message.body) else { return false }
        blocks.insert(block)
        return true
      }
      try dump("dump RTM_GETRULE", RTM_GETRULE) { request in
        // struct fib_rule_hdr, all zero but the family.
        request.append(UInt32(family.rawValue))
        request.append(UInt64(0))
      } body: { message in
        if message.type == RTM_NEWRULE, let block = NetlinkDecoder.ruleBlock(message.body) { blocks.insert(block) }
        return true
      }
    }
    return blocks
  }
}
