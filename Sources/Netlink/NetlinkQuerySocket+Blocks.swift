internal import CNetlink
internal import Glibc
internal import ReachabilityModel

extension NetlinkQuerySocket {
  /// Reads the blocks of all routes in all tables, and of all policy rules, of both families.
  func routeBlocks() throws(KernelError) -> Set<RouteChanges.Block> {
    var blocks: Set<RouteChanges.Block> = []
    for family in IPAddress.Family.allCases {
      // A repeated dump keeps blocks of routes that were removed meanwhile; they are harmless.
      try dump("dump RTM_GETROUTE", RTM_GETROUTE) { request in
        // struct rtmsg, all zero except the family.
        request.append(UInt32(family.rawValue))
        request.append(UInt64(0))
      } body: { message in
        guard message.type == RTM_NEWROUTE else { return true }
        guard let block = NetlinkDecoder.routeBlock(message.body) else { return false }
        blocks.insert(block)
        return true
      }
      try rules(family) { if let block = NetlinkDecoder.ruleBlock($0) { blocks.insert(block) } }
    }
    return blocks
  }

  /// Whether an IPv4 policy rule for certain source addresses exists, which matters to ``lookUp(_:bySource:)``.
  func hasSourceRules() throws(KernelError) -> Bool {
    var isFound = false
    // struct fib_rule_hdr: family, dst_len, src_len.
    try rules(.ipv4) { body in isFound = isFound || body.load(2) ?? UInt8(0) > 0 }
    return isFound
  }

  private func rules(_ family: IPAddress.Family, _ body: (NetlinkBytes) -> Void) throws(KernelError) {
    do throws(KernelError) {
      try dump("dump RTM_GETRULE", RTM_GETRULE) { request in
        // struct fib_rule_hdr, all zero except the family.
        request.append(UInt32(family.rawValue))
        request.append(UInt64(0))
      } body: { message in
        if message.type == RTM_NEWRULE { body(message.body) }
        return true
      }
    } catch {
      // A kernel without policy rules, or a sandbox such as gVisor, has none.
      guard [EOPNOTSUPP, EAFNOSUPPORT].contains(error.errno) else { throw error }
    }
  }
}
