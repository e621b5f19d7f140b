internal import CNetlink
internal import ReachabilityModel

/// The kernel's interfaces and addresses, read again as far as events ask for it.
///
/// What an event says is never taken for the state: of the links that it names the kernel is asked anew.
struct TableReader {
  private var classifier: InterfaceClassifier
  private var links: [UInt32: LinkMessage] = [:]
  private var addresses: [InterfaceAddress] = []
  /// The last reading of everything may have holes, for changes went on interrupting it.
  private var isInterrupted = false
  /// As of the last reading.
  private(set) var tables = KernelTables()

  init(_ classifier: InterfaceClassifier) { self.classifier = classifier }

  /// Waits for the kernel to have done what a batch announces, and reads of the tables what it may have changed.
  mutating func read(_ batch: EventBatch, _ queries: QuerySocket) throws(KernelError) {
    var needsAll = batch.needsTables || isInterrupted
    // A link is asked about under the lock that the barrier waits for, and so is one itself.
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

  /// Reads these links and no others.
  ///
  /// - Returns: false when more than they may have changed. A link that comes or goes may be the lower device of others,
  ///   which are not told; one that is switched, or becomes a part of another, has addresses that change without a word
  ///   (`keep_addr_on_down`: they are tentative again).
  private mutating func readOnly(_ indexes: Set<UInt32>, _ queries: QuerySocket) throws(KernelError) -> Bool {
    for index in indexes {
      // Asked in any case: others rely on the lock that this waits for.
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
