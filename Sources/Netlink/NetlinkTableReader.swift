internal import CNetlink
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
  /// The tables as of the last reading.
  private(set) var tables = KernelTables()

  init(_ classifier: InterfaceClassifier) { self.classifier = classifier }

  /// Waits until the kernel has completed the changes that a batch announces, and reads the tables that they may
  /// affect.
  mutating func read(_ batch: NetlinkEventBatch, _ queries: NetlinkQuerySocket) throws(KernelError) {
    var needsAll = batch.needsTables || isInterrupted
    // A request for a link takes the lock that the barrier waits for, and so acts as a barrier.
    if batch.needsBarrier, needsAll || batch.links.isEmpty { try queries.barrier() }
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
