import EventLoop
import HostResolver
import ReachabilityModel
import Testing

@testable import Probers

@Suite struct PendingICMPEchoRequestsTests {
  /// Exchanges whose check and loop are not used: only their identity counts.
  private let loop: ProberLoop
  private let check: ProberCheck
  private let owner: ICMPEchoExchange
  private let connector: AddressConnector

  init() throws {
    let inbox = ProberInbox("echoes", resolver: Resolver(), opensEchoSockets: true)
    loop = ProberLoop(inbox, try Poller(capacity: 1), try Mailbox())
    check = ProberCheck(1, try request("icmp://127.0.0.1")) { _ in }
    owner = ICMPEchoExchange(check, ICMPOptions(), loop)
    connector = AddressConnector(check, [], loop, for: owner)
  }

  private func exchange() -> ICMPEchoSequence {
    ICMPEchoSequence(check, SocketPeer(address: IPAddress(ipv4: 1), port: 0), ICMPOptions(), loop, connector)
  }

  @Test("Numbers are consecutive modulo 65,536")
  func numbers() throws {
    var pending = PendingICMPEchoRequests(after: 65_533)
    let exchanges = (0..<5).map { _ in exchange() }
    let numbers = exchanges.map { pending.add($0, .now) }
    #expect(numbers == [65_534, 65_535, 0, 1, 2])
    #expect(pending[0]?.exchange === exchanges[2])
    #expect(pending[3] == nil)
    let completed = pending.complete(0)
    #expect(completed?.exchange === exchanges[2])
    let again = pending.complete(0)
    #expect(again == nil)
    #expect(pending.count == 4)
  }

  @Test("A request that stays pending keeps its number and its index")
  func oldest() throws {
    var pending = PendingICMPEchoRequests(after: 9)
    let oldest = exchange()
    let number = pending.add(oldest, .now)
    #expect(number == 10)
    let other = exchange()
    for _ in 0..<70_000 {
      let added = pending.add(other, .now)
      let number = try #require(added)
      #expect(number != 10)
      pending.complete(number)
      #expect(pending.count == 1)
    }
    // A reply with a number that shares the oldest's index matches no request.
    let unmatched = pending.complete(10 + UInt16(Limits.echoSlots))
    #expect(unmatched == nil)
    let completed = pending.complete(10)
    #expect(completed?.exchange === oldest)
    #expect(pending.count == 0)
  }

  @Test("The number of pending requests is limited")
  func limit() {
    var pending = PendingICMPEchoRequests()
    let one = exchange()
    let numbers = (0..<Limits.echoesOpen).compactMap { _ in pending.add(one, .now) }
    #expect(Set(numbers).count == Limits.echoesOpen)
    let oneMore = pending.add(one, .now)
    #expect(oneMore == nil)
    for number in numbers { pending.complete(number) }
    #expect(pending.count == 0)
  }

  @Test func theTimeOfSendingIsThatOfTheNumber() throws {
    var pending = PendingICMPEchoRequests(after: 0)
    let added = pending.add(exchange(), MonotonicInstant(nanoseconds: 5))
    let number = try #require(added)
    pending.setSent(number, MonotonicInstant(nanoseconds: 7), realtime: 70)
    pending.setSent(number &+ 256, MonotonicInstant(nanoseconds: 8), realtime: 80)
    #expect(pending[number]?.sent == MonotonicInstant(nanoseconds: 7))
    #expect(pending[number]?.sentRealtime == 70)
  }
}
