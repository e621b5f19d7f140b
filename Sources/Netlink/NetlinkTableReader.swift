internal import CNetlink
internal import Glibc
internal import ReachabilityModel

/// The kernel's interfaces and addresses, read again as far as events require it.
///
/// The content of an event is never used as state: the links that it names are requested from the kernel.
struct NetlinkTableReader {
  private var classifier: InterfaceClassifier
  private var links: [UInt32: NetlinkLinkMessage] = [:]
  private var addresses: [InterfaceAddress] = []
  /// The last complete reading may be inconsistent, because changes interrupted every attempt.
  private var isInterrupted = false
  /// What the policy rules of the last reading match.
  private(set) var rules: NetlinkRuleSelectors = []
  /// The tables as of the last reading.
  private(set) var tables = KernelTables()

  init(_ classifier: InterfaceClassifier) { self.classifier = classifier }

  /// Waits until the kernel has completed the changes that a batch announces, and reads the tables that they may
  /// affect.
  ///
  /// - Parameters:
  ///   - batch: what may have changed.
  ///   - isAudit: whether to read the policy rules although no change was announced.
  ///   - queries: the socket.
  /// - Throws: a ``KernelError`` when the kernel refuses or does not answer.
  mutating func read(
    _ batch: NetlinkEventBatch, isAudit: Bool = false, _ queries: NetlinkQuerySocket
  ) throws(KernelError) {
    var needsAll = batch.needsTables || isInterrupted
    // A request for a link takes the lock that the barrier waits for, and so acts as a barrier.
    if batch.needsBarrier, needsAll || batch.links.isEmpty { try queries.barrier() }
    if batch.isAfterLoss || isAudit || batch.causes.contains(.ruleChanged) {
      rules = try queries.ruleSelectors()
      tables.hasTransportRules = rules.contains(.transport)
    }
    guard batch.touchesTables else { return }
    if !needsAll { needsAll = try !readOnly(batch.links, queries) }
    if needsAll || batch.needsAddresses {
      let torn = queries.interruptedDumps
      if needsAll { links = try queries.links() }
      addresses = try queries.addresses()
      isInterrupted = queries.interruptedDumps != torn
    }
    let sorted = links.values.sorted { $0.interface.index < $1.interface.index }
    tables = KernelTables(interfaces: classifier.classify(sorted), addresses: addresses)
    tables.hasTransportRules = rules.contains(.transport)
    for link in links.values {
      for name in link.alternativeNames { tables.alternativeNames[name] = link.interface.index }
    }
  }

  /// Reads only the given links.
  ///
  /// - Returns: false when other links may have changed too. A link that is added or removed may be the lower device of
  ///   others, for which no event is sent. A link that is set up or down, or joins another, has addresses that change
  ///   without an event (`keep_addr_on_down`: they are tentative again).
  private mutating func readOnly(_ indexes: Set<UInt32>, _ queries: NetlinkQuerySocket) throws(KernelError) -> Bool {
    for index in indexes {
      // Requested in any case: other code relies on the lock that this request waits for.
      let asked = try queries.link(index)
      guard let old = links[index], let new = asked else { return false }
      links[index] = new
      let isSwitched = old.interface.flags.contains(.up) != new.interface.flags.contains(.up)
      if isSwitched || old.masterIndex != new.masterIndex || old.interface.lowerIndex != new.interface.lowerIndex {
        return false
      }
    }
    return true
  }
}

/// What policy rules match, as far as lookups differ by it.
struct NetlinkRuleSelectors: OptionSet {
  let rawValue: UInt8
  /// An IPv4 rule is for certain source addresses.
  static let ipv4Source = NetlinkRuleSelectors(rawValue: 1 << 0)
  /// A rule of either family is for certain protocols or ports.
  static let transport = NetlinkRuleSelectors(rawValue: 1 << 1)
}

// Links, addresses, the blocks of all routes, and policy rules.
extension NetlinkQuerySocket {
  /// Reads all links, by their indexes.
  func links() throws(KernelError) -> [UInt32: NetlinkLinkMessage] {
    var links: [UInt32: NetlinkLinkMessage] = [:]
    try dump("dump RTM_GETLINK", RTM_GETLINK) { (request) in
      Self.appendLinkHeader(index: 0, to: &request)
      // The statistics would be two thirds of the response.
      request.attribute(IFLA_EXT_MASK, UInt32(RTEXT_FILTER_SKIP_STATS))
    } restart: {
      links.removeAll(keepingCapacity: true)
    } content: { content in
      if case .link(let link) = content { links[link.interface.index] = link }
    }
    return links
  }

  /// Reads all addresses of both families.
  func addresses() throws(KernelError) -> [InterfaceAddress] {
    var addresses: Set<InterfaceAddress> = []
    try dump("dump RTM_GETADDR", RTM_GETADDR) { request in
      // struct ifaddrmsg, all zero: every family, every link.
      request.append(UInt64(0))
    } restart: {
      addresses.removeAll(keepingCapacity: true)
    } content: { content in
      if case .address(let address) = content { addresses.insert(address) }
    }
    return Array(addresses)
  }

  private func dump(
    _ operation: String, _ type: Int, _ header: (inout NetlinkRequest) -> Void, restart: () -> Void,
    content body: (NetlinkContent) -> Void
  ) throws(KernelError) {
    try dump(operation, type, header, restart: restart) { message in
      let content = NetlinkDecoder.content(of: message)
      body(content)
      return content != .malformed
    }
  }

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

  /// Reads what the policy rules match.
  func ruleSelectors() throws(KernelError) -> NetlinkRuleSelectors {
    var found: NetlinkRuleSelectors = []
    for family in IPAddress.Family.allCases {
      try rules(family) { body in
        // struct fib_rule_hdr: family, dst_len, src_len.
        if family == .ipv4, body.load(2) ?? UInt8(0) > 0 { found.insert(.ipv4Source) }
        body.forEachAttribute(from: 12) { type, _ in
          if [FRA_IP_PROTO, FRA_SPORT_RANGE, FRA_DPORT_RANGE].contains(type) { found.insert(.transport) }
        }
      }
    }
    return found
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
