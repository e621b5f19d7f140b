internal import CNetlink
internal import ReachabilityModel

/// The kernel's interfaces and addresses, read again as far as events ask for it.
///
/// What an event says is never taken for the state: of the links that it names the kernel is asked anew.
struct TableReader {
  private var classifier: InterfaceClassifier
  private var links: [UInt32: LinkMessage] = [:]
  private var addresses: [InterfaceAddress] = []
  /// As of the last reading.
  private(set) var tables = KernelTables()

  init(_ classifier: InterfaceClassifier) { self.classifier = classifier }

  /// Waits for the kernel to have done what a batch announces, and reads of the tables what it may have changed.
  mutating func read(_ batch: EventBatch, _ queries: NetlinkQueries) throws(KernelError) {
    // A link is asked about under the lock that the barrier waits for, and so is one itself.
    if batch.needsBarrier, batch.needsTables || batch.links.isEmpty { try queries.barrier() }
    if batch.needsTables {
      links = try queries.links()
    } else {
      for index in batch.links { links[index] = try queries.link(index) }
    }
    if batch.needsTables || batch.needsAddresses { addresses = try queries.addresses() }
    guard batch.touchesTables else { return }
    let sorted = links.values.sorted { $0.interface.index < $1.interface.index }
    tables = KernelTables(interfaces: classifier.classify(sorted), addresses: addresses)
  }
}
