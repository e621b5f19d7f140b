import Names
import ReachabilityModel
import Testing

@testable import Probes

@Suite("Echo requests under way, by their numbers")
struct EchoFlightsTests {
  /// Exchanges whose check and loop are not asked for: only who they are counts.
  private let loop: ProberLoop
  private let check: Check

  init() throws {
    loop = ProberLoop(ProberInbox("echoes", resolver: Resolver(), opensEchoSockets: true), try EventPoller(capacity: 1))
    check = Check(1, try request("icmp://127.0.0.1")) { _ in }
  }

  private func exchange() -> EchoExchange {
    EchoExchange(check, Peer(address: IPAddress(ipv4: 1), port: 0), ICMPRecipe(), loop)
  }

  @Test("Numbers follow one another, across their end, and each finds its own")
  func numbers() throws {
    var flights = EchoFlights(after: 65_533)
    let exchanges = (0..<5).map { _ in exchange() }
    let numbers = exchanges.map { flights.depart($0, .now) }
    #expect(numbers == [65_534, 65_535, 0, 1, 2])
    #expect(flights[0]?.exchange === exchanges[2])
    #expect(flights[3] == nil)
    let landed = flights.land(0)
    #expect(landed?.exchange === exchanges[2])
    let again = flights.land(0)
    #expect(again == nil)
    #expect(flights.count == 4)
  }

  @Test("One that stays out does not give its number or its place away, however often the numbers come round")
  func straggler() throws {
    var flights = EchoFlights(after: 9)
    let straggler = exchange()
    let number = flights.depart(straggler, .now)
    #expect(number == 10)
    let other = exchange()
    for _ in 0..<70_000 {
      let departed = flights.depart(other, .now)
      let number = try #require(departed)
      #expect(number != 10)
      flights.land(number)
      #expect(flights.count == 1)
    }
    // A reply with a number that shares the straggler's place is nobody's.
    let nobody = flights.land(10 + UInt16(Limits.echoPlaces))
    #expect(nobody == nil)
    let landed = flights.land(10)
    #expect(landed?.exchange === straggler)
    #expect(flights.count == 0)
  }

  @Test("As many as may be are under way at once, and no more")
  func limit() {
    var flights = EchoFlights()
    let one = exchange()
    let numbers = (0..<Limits.echoesOpen).compactMap { _ in flights.depart(one, .now) }
    #expect(Set(numbers).count == Limits.echoesOpen)
    let oneMore = flights.depart(one, .now)
    #expect(oneMore == nil)
    for number in numbers { flights.land(number) }
    #expect(flights.count == 0)
  }

  @Test func aNoteIsForTheOneThatLeft() throws {
    var flights = EchoFlights(after: 0)
    let departed = flights.depart(exchange(), Instant(nanoseconds: 5))
    let number = try #require(departed)
    flights.note(number, left: Instant(nanoseconds: 7), real: 70)
    flights.note(number &+ 256, left: Instant(nanoseconds: 8), real: 80)
    #expect(flights[number]?.left == Instant(nanoseconds: 7))
    #expect(flights[number]?.leftReal == 70)
  }
}

@Suite("A line is served in the order in which it was joined")
struct LineTests {
  @Test func order() {
    var random = SystemRandomNumberGenerator()
    var line = Line<Int>()
    var expected: [Int] = []
    var served: [Int] = []
    for number in 0..<20_000 {
      line.append(number)
      expected.append(number)
      // Long now, empty then: both ways in which places are given back.
      if number % 7_000 < 3_500 ? Int.random(in: 0..<4, using: &random) == 0 : true {
        if let first = line.popFirst() { served.append(first) }
        if let first = line.popFirst() { served.append(first) }
      }
      #expect(line.count == expected.count - served.count)
    }
    while let first = line.popFirst() { served.append(first) }
    #expect(served == expected)
    #expect(line.isEmpty)
  }

  @Test func whoeverLeftIsLetGo() {
    final class Guest {}
    var line = Line<Guest>()
    weak var guest: Guest?
    do {
      let new = Guest()
      guest = new
      line.append(new)
      line.append(Guest())
    }
    #expect(guest != nil)
    _ = line.popFirst()
    #expect(guest == nil, "its place is kept, but nobody in it")
  }
}
