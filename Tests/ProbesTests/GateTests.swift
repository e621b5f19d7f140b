import Names
import ReachabilityModel
import Testing

@testable import Probes

@Suite("The gate: so many at once, so many of one address, so many in line")
struct GateTests {
  private let one = IPAddress(ipv4: 1)
  private let two = IPAddress(ipv4: 2)

  @Test func theCapacityIsKeptAndTheLineIsServedInOrder() {
    var gate = Gate(capacity: 2, perAddress: 9, longestLine: 9)
    #expect((1...4).map { gate.enter($0) } == [.enter, .enter, .wait, .wait])
    #expect(gate.leave { _ in true } == [3])
    #expect(gate.leave { _ in true } == [4])
    #expect(gate.leave { _ in true }.isEmpty)
    #expect(gate.enter(5) == .enter)
  }

  @Test func oneAddressDoesNotHoldUpTheOthers() {
    var gate = Gate(capacity: 9, perAddress: 1, longestLine: 9)
    #expect(gate.enter(1, one) == .enter)
    #expect(gate.enter(2, one) == .wait)
    #expect(gate.enter(3, two) == .enter)
    #expect(gate.leave(two) { _ in true }.isEmpty)
    #expect(gate.leave(one) { _ in true } == [2])
  }

  @Test func theLineEnds() {
    var gate = Gate(capacity: 1, perAddress: 1, longestLine: 2)
    #expect((1...4).map { gate.enter($0, one) } == [.enter, .wait, .wait, .refuse])
    #expect(gate.leave(one) { _ in true } == [2])
    #expect(gate.enter(5, two) == .wait)
    #expect(gate.enter(6, two) == .refuse)
  }

  @Test func whoWentAwayIsPassedOver() {
    var gate = Gate(capacity: 9, perAddress: 1, longestLine: 9)
    #expect((1...4).map { gate.enter($0, one) } == [.enter, .wait, .wait, .wait])
    #expect(gate.leave(one) { $0 == 4 } == [4])
    #expect(gate.leave(one) { _ in true }.isEmpty)
    #expect(gate.enter(5, one) == .enter)
  }

  @Test("Whatever comes and goes, the bounds hold and everybody has a turn")
  func anyOrder() {
    var random = SystemRandomNumberGenerator()
    var gate = Gate(capacity: 5, perAddress: 2, longestLine: 1_000)
    var inside: [UInt64: IPAddress] = [:]
    var waiting: [UInt64: IPAddress] = [:]
    func leave(_ id: UInt64) {
      guard let address = inside.removeValue(forKey: id) else { return }
      for next in gate.leave(address, isWaiting: { waiting[$0] != nil }) {
        inside[next] = waiting.removeValue(forKey: next)
      }
    }
    for id in 1...UInt64(900) {
      let address = IPAddress(ipv4: UInt32.random(in: 1...4, using: &random))
      switch gate.enter(id, address) {
      case .enter: inside[id] = address
      case .wait: waiting[id] = address
      case .refuse: Issue.record("there was room in the line")
      }
      if Bool.random(using: &random), let id = inside.keys.randomElement(using: &random) { leave(id) }
      if Int.random(in: 0..<10, using: &random) == 0, let id = waiting.keys.randomElement(using: &random) {
        waiting[id] = nil
      }
      #expect(inside.count <= 5)
      #expect(Dictionary(grouping: inside.values, by: \.self).values.allSatisfy { $0.count <= 2 })
    }
    for _ in 0..<900 { if let id = inside.keys.first { leave(id) } }
    #expect(inside.isEmpty)
    #expect(waiting.isEmpty)
  }
}

@Suite("Alarms ring in the order of their moments")
struct AlarmsTests {
  @Test func order() {
    var alarms = Alarms()
    let start = Instant.now
    let moments = (0..<500).map { (id: UInt64($0), at: start.advanced(by: .milliseconds(Int.random(in: 0..<50)))) }
    for moment in moments { alarms.set(moment.id, at: moment.at) }
    #expect(alarms.first == moments.map(\.at).min())
    let middle = start.advanced(by: .milliseconds(25))
    var rung: [(at: Instant, id: UInt64)] = []
    while let next = alarms.next(by: middle) { rung.append(next) }
    #expect(rung.map(\.at) == moments.map(\.at).filter { $0 <= middle }.sorted())
    let live = moments.filter { $0.at > middle && $0.id % 2 == 0 }
    alarms.rebuild(live.map { ($0.at, $0.id) })
    rung = []
    while let next = alarms.next(by: start.advanced(by: .seconds(1))) { rung.append(next) }
    #expect(rung.map(\.at) == live.map(\.at).sorted())
    #expect(Set(rung.map(\.id)) == Set(live.map(\.id)))
    #expect(alarms.first == nil)
  }
}
