import CNetlink
import Logging
import ReachabilityModel
import TestSupport
import Testing

@testable import Netlink

/// What of links and addresses is read again after an event.
@Suite struct EventBatchTableTests {
  func batch(_ datagrams: [[UInt8]]) -> EventBatch {
    var batch = EventBatch()
    var routers = RouterWatch()
    for bytes in datagrams { unsafe bytes.withUnsafeBytes { unsafe batch.add(NetlinkBytes($0), &routers) } }
    return batch
  }

  func link(_ index: UInt8, _ type: Int = RTM_NEWLINK) -> [UInt8] {
    [32, 0, 0, 0, UInt8(type), 0] + [UInt8](repeating: 0, count: 14) + [index] + [UInt8](repeating: 0, count: 11)
  }

  @Test func ofALinkOnlyThatOne() {
    let batch = batch([link(7), link(9, RTM_DELLINK), link(7)])
    #expect(batch.links == [7, 9] && !batch.needsAddresses && !batch.needsTables)
    #expect(batch.needsBarrier && batch.changes.isAny && batch.touchesTables && batch.isNews)
  }

  @Test func ofManyLinksAll() {
    let all = batch((1...20).map { link($0) })
    #expect(all.needsTables)
    var merged = batch((1...8).map { link($0) })
    #expect(!merged.needsTables)
    merged.merge(batch([link(9)]))
    #expect(merged.needsTables)
  }

  @Test func ofAnAddressAllAddresses() {
    let batch = batch([CapturedDatagrams.addressDump])
    #expect(batch.needsAddresses && batch.links.isEmpty && !batch.needsTables)
    var merged = EventBatch()
    merged.merge(batch)
    #expect(merged.needsAddresses && merged.touchesTables)
  }

  @Test func ofALinkWithoutAnIndexAll() {
    let bytes: [UInt8] = [20, 0, 0, 0, UInt8(RTM_NEWLINK), 0] + [UInt8](repeating: 0, count: 14)
    #expect(batch([bytes]).needsTables)
  }
}

@Suite(.enabled(if: Namespace.isSupported), .serialized) struct TableReaderTests {
  @Test func oneLinkIsAsAllLinksHaveIt() throws {
    let pair = try VethPair()
    let queries = try pair.client.run { () throws(KernelError) in try NetlinkQueries() }
    let all = try queries.links()
    #expect(all.count >= 2)
    for (index, link) in all { #expect(try queries.link(index) == link) }
    #expect(try queries.link(0x7fff_fff0) == nil)
  }

  /// Whatever happens to links and addresses: what was read piece by piece is what one look at all of it shows.
  @Test(arguments: [1, 2, 3]) func piecesMakeUpTheWhole(seed: UInt64) throws {
    let running = try RunningSource()
    let queries = try running.client.run { () throws(KernelError) in try NetlinkQueries() }
    var classifier = InterfaceClassifier(sysfsRoot: "/sys/class/net")
    var random = SplitMix(state: seed)
    for round in 0..<40 {
      // Some of it is refused (a link that is there, or not): then something else happened.
      try? running.client.ip(batch: (0..<Int.random(in: 1...6, using: &random)).map { _ in Self.change(&random) })
      var whole = KernelTables()
      func isSame() throws -> Bool {
        let links = try queries.links().values.sorted { $0.interface.index < $1.interface.index }
        whole = KernelTables(interfaces: classifier.classify(links), addresses: try queries.addresses())
        return running.observer.last?.tables == whole
      }
      let became = try eventually { try isSame() }
      try #require(became, "round \(round): \(String(describing: running.observer.last?.tables)) is not \(whole)")
    }
    #expect(running.source.counters.auditDifferences == 0 && running.source.counters.failures == 0)
  }

  static func change(_ random: inout SplitMix) -> String {
    let (number, other) = (Int.random(in: 0..<4, using: &random), Int.random(in: 0..<4, using: &random))
    let changes = [
      "link add t\(number) type dummy", "link add t\(number) type veth peer name t\(other)", "link del t\(number)",
      "link add t\(number) link c0 type macvlan", "link set t\(number) up", "link set t\(number) down",
      "link set t\(number) mtu \(1300 + other)", "link set t\(number) name t\(other)", "addr flush dev t\(number)",
      "addr add 198.51.100.\(number)/2\(other) dev t\(number)",
      "addr del 198.51.100.\(number)/2\(other) dev t\(number)",
      "addr add 2001:db8::\(number)/6\(other) dev t\(number) nodad", "link set c0 mtu \(1400 + number)",
    ]
    return changes[Int.random(in: changes.indices, using: &random)]
  }
}
