import Dispatch
import FleetAPI
import Glibc
import Locks
import ReachabilityFleet
import ReachabilityModel
import TestSupport

/// Tries the attacks of ``AttackTable`` at random, over one connection after another, until it is stopped.
final class HostileAgent: Sendable {
  private let isStopped = Locked(false)
  private let count = Locked(0)
  private let group = DispatchGroup()

  /// The messages that it has sent.
  var attacks: Int { count.withLock(\.self) }

  /// Begins, from a namespace that reaches all servers.
  init(from namespace: Namespace, port: UInt16, addresses: [[UInt8]]) {
    DispatchQueue(label: "hostile").async(group: group) { [self] in
      var random = SeededGenerator(seed: 60)
      while !isStopped.withLock(\.self) {
        guard let address = addresses.randomElement(using: &random),
          let client = try? RawClient(port: port, user: "evil", in: namespace, address: address)
        else {
          pause(.milliseconds(200), because: "its attempts to connect must not fill the processor")
          continue
        }
        for _ in 0..<200 where !client.isClosed && !isStopped.withLock(\.self) {
          Self.attack(client, &random)
          count.withLock { $0 += 1 }
        }
      }
    }
  }

  /// Ends, after the present attack.
  func stop() {
    isStopped.withLock { $0 = true }
    group.wait()
  }

  private static func attack(_ client: RawClient, _ random: inout SeededGenerator) {
    let own = AttackTable.permitted("evil")
    let subject = own.randomElement(using: &random) ?? own[0]
    let other = AttackTable.others.randomElement(using: &random) ?? subject
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<30: client.publish(subject, reply: AttackTable.replies.randomElement(using: &random), payload(&random))
    case 30..<50:
      client.publish(subject, reply: other, payload(&random), header: AttackTable.headers.randomElement(using: &random))
    case 50..<60: client.publish(other, payload(&random))
    case 60..<65: client.subscribe(AttackTable.subscriptions.randomElement(using: &random) ?? ">")
    case 65..<98: client.publish("rx2.in.evil", reply: "_INBOX.agent.evil.x", payload(&random))
    default: client.flood(subject, payload(&random), reply: "_INBOX.agent.evil.x", count: 320)
    }
  }

  /// A request, valid or not.
  private static func payload(_ random: inout SeededGenerator) -> [UInt8] {
    let number = UInt64.random(in: 1...1000, using: &random)
    let target = "t\(Int.random(in: 1...10, using: &random))"
    let change = FleetCellChange(
      number: number, target: target, old: .up, cell: FleetCellState(.down, since: Timestamp(microseconds: 1)),
      time: Timestamp(microseconds: 1))
    let zone = number.isMultiple(of: 2) ? "a" : "b"
    let requests: [GatewayRequest] = [
      .publish(
        AgentMessage(
          agent: number.isMultiple(of: 3) ? "node0" : "evil", epoch: "e\(number % 3)",
          after: number % 5 == 0 ? 0 : number,
          .changes(AgentChangeBatch(prev: number - 1, from: number, to: number, changes: [change])))),
      .hello(
        GatewayHello(
          instance: number, known: number, restates: number.isMultiple(of: 2),
          attributes: NodeHello(role: .replica, zone: zone, version: "1"))),
      .bye(instance: number), .last, .confirm(roster: nil), .roster(after: nil), .missing([target]),
    ]
    var bytes = GatewayWire.encode(requests.randomElement(using: &random) ?? .last)
    // A few are damaged.
    if number.isMultiple(of: 4), let place = bytes.indices.randomElement(using: &random) {
      bytes[place] = UInt8.random(in: 0 ... .max, using: &random)
    }
    return bytes
  }
}
