import Dispatch
import NetworkReachabilityTesting
import TestSupport
import Testing

@testable import NetworkReachability

@Suite("Slow consumers")
struct SubscriberMailboxTests {
  static func snapshot(_ sequence: UInt64, _ path: NetworkPath = NetworkPath(flags: .reachable)) -> Snapshot {
    Snapshot(
      sequence: sequence, since: nil, machine: MachinePath(ipv4: path, ipv6: .none(.noRoute)), interfaces: [])
  }

  static func machine(_ sequence: UInt64, _ path: NetworkPath = NetworkPath(flags: .reachable)) -> ReachabilityUpdate {
    let none = MachinePath(ipv4: .none(.noRoute), ipv6: .none(.noRoute))
    let snapshot = snapshot(sequence, path)
    let change = Transition.Change.path(from: none, to: snapshot.machine)
    return ReachabilityUpdate(
      snapshot: snapshot,
      transition: Transition(sequence: sequence, time: Timestamp(microseconds: 0), causes: [], change: change))
  }

  static func host(_ number: UInt32, _ sequence: UInt64, reachable: Bool = true) -> ReachabilityUpdate {
    let target = ReachabilityTarget(.address(IPAddress(ipv4: number)))
    let verdict = HostVerdict(target: target, path: reachable ? NetworkPath(flags: .reachable) : .none(.noRoute))
    return ReachabilityUpdate(
      snapshot: snapshot(sequence),
      transition: Transition(
        sequence: sequence, time: Timestamp(microseconds: 0), causes: [], change: .host(from: nil, to: verdict)))
  }

  static func drain(_ mailbox: inout SubscriberMailbox) -> [ReachabilityUpdate] {
    var updates: [ReachabilityUpdate] = []
    while let update = mailbox.popFirst() { updates.append(update) }
    return updates
  }

  @Test("Up to its limit a mailbox keeps everything in order")
  func order() {
    var mailbox = SubscriberMailbox()
    for sequence in 1...UInt64(Limits.pendingUpdates) { mailbox.append([Self.machine(sequence)]) }
    #expect(Self.drain(&mailbox).map(\.snapshot.sequence) == Array(1...UInt64(Limits.pendingUpdates)))
    #expect(mailbox.isEmpty && mailbox.popFirst() == nil)
  }

  @Test("Taken updates free capacity")
  func room() {
    var mailbox = SubscriberMailbox()
    for sequence in 1...UInt64(10 * Limits.pendingUpdates) {
      mailbox.append([Self.machine(sequence)])
      #expect(mailbox.popFirst()?.snapshot.sequence == sequence)
    }
    #expect(mailbox.isEmpty)
  }

  @Test(
    "Beyond its limit, one update has the latest state",
    arguments: [
      257, 258, 511, 512, 513, 1000, 10_000,
    ])
  func collapse(_ changes: UInt64) throws {
    var mailbox = SubscriberMailbox()
    mailbox.append([ReachabilityUpdate(snapshot: Self.snapshot(0))])
    for sequence in 1...changes { mailbox.append([Self.machine(sequence)]) }
    let updates = Self.drain(&mailbox)
    #expect(updates.count <= Limits.pendingUpdates)
    #expect(updates.last?.snapshot.sequence == changes)
    // Every change is either delivered or counted.
    var next: UInt64 = 0
    for update in updates {
      next += UInt64(update.skipped) + (update.transition == nil ? 0 : 1)
      #expect(update.snapshot.sequence == next)
      #expect(!update.isInitial)
    }
    #expect(next == changes)
  }

  @Test("A full mailbox keeps the latest verdict of each host")
  func hosts() throws {
    var mailbox = SubscriberMailbox()
    for round in 0..<300 {
      mailbox.append([Self.host(UInt32(round % 3), UInt64(round), reachable: round >= 297)])
      if round == 100 { mailbox.append([Self.machine(101, .none(.linkDown))]) }
    }
    mailbox.append([Self.machine(400, .none(.linkDown))])
    let updates = Self.drain(&mailbox)
    let latest = Dictionary(updates.compactMap(\.host).map { ($0.target, $0) }, uniquingKeysWith: { $1 })
    #expect(latest.count == 3)
    #expect(latest.values.allSatisfy { $0.path.status.isReachable })
    #expect(updates.map(\.snapshot.sequence) == updates.map(\.snapshot.sequence).sorted())
    #expect(updates.last?.snapshot.sequence == 400)
    #expect(updates.last?.status == .notReachable)
  }

  @Test("The first verdict of every host is kept", arguments: [255, 256, 257, 3000])
  func manyHosts(_ count: Int) {
    var mailbox = SubscriberMailbox()
    mailbox.append([ReachabilityUpdate(snapshot: Self.snapshot(1))])
    for number in 0..<count { mailbox.append([Self.host(UInt32(number), 1)]) }
    let updates = Self.drain(&mailbox)
    #expect(updates.first?.isInitial == true)
    #expect(updates.reduce(0) { $0 + $1.skipped } == 0, "nothing was left out")
    #expect(Set(updates.compactMap(\.host?.target)).count == count)
  }

  @Test("A mailbox does not grow without bound")
  func bound() {
    var mailbox = SubscriberMailbox()
    for round in 0..<50_000 { mailbox.append([Self.host(UInt32(round % 100), UInt64(round))]) }
    let updates = Self.drain(&mailbox)
    #expect(updates.count <= 2 * Limits.pendingUpdates)
    #expect(Set(updates.compactMap(\.host?.target)).count == 100)
  }

  @Test("A slow listener skips updates, a fast one does not")
  func slowListener() async throws {
    let bench = try Bench.started()
    let gate = DispatchSemaphore(value: 0)
    let slow = UpdateRecorder()
    let subscription = bench.monitor.listen(to: .all, on: .queue(DispatchQueue(label: "slow"))) { update in
      if update.isInitial { gate.wait() }
      slow.record(update)
    }
    let (quick, other) = try bench.record(.all)
    for step in 0..<1000 { bench.kernel.change { $0.change("eth0") { $0.mtu = 2000 + UInt32(step) } } }
    bench.loseDefault()
    bench.kernel.advance(by: Bench.settle)
    gate.signal()
    let last = bench.monitor.snapshot
    #expect(
      await eventually(within: .seconds(120)) { () async in slow.updates.last?.snapshot.sequence == last.sequence })
    #expect(slow.updates.last?.snapshot == last)
    #expect(slow.updates.count < 600)
    #expect(slow.updates.reduce(0) { $0 + $1.skipped } + slow.transitions.count == quick.transitions.count)
    #expect(quick.transitions.map(\.sequence) == Array(2...last.sequence))
    subscription?.cancel()
    other.cancel()
  }
}
