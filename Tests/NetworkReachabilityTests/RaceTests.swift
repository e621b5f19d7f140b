import Dispatch
import Glibc
import NetworkReachability
import NetworkReachabilityTesting
import TestSupport
import Testing

@Suite("Races of many threads", .serialized)
struct RaceTests {
  /// A kernel that changes on a thread of its own until it is stopped.
  struct Storm {
    private let group = DispatchGroup()
    private final class Flag: Sendable { let isOver = Shared(false) }
    private let flag = Flag()

    init(_ kernel: ScriptedKernel) {
      let flag = flag
      DispatchQueue(label: "storm").async(group: group) {
        var gateway = 0
        while !flag.isOver.value {
          gateway = gateway % 200 + 1
          let text = "10.0.0.\(gateway)"
          kernel.change([.routeReplaced]) { script in
            script.removeDefaults(.ipv4)
            script.addDefault(via: text, on: 2)
          }
        }
      }
    }

    func end() {
      flag.isOver.withLock { $0 = true }
      group.wait()
    }
  }

  static let contexts: [DeliveryContext] = [
    .immediate, .queue(DispatchQueue(label: "serial")), .queue(.global()),
  ]

  @Test("E2-6 no listener runs after cancel has returned", arguments: 0..<3)
  func nothingAfterCancel(_ context: Int) throws {
    let bench = try Bench.started()
    let storm = Storm(bench.kernel)
    defer { storm.end() }
    for round in 0..<500 {
      let (ended, wrong) = (Shared(false), Shared(0))
      let subscription = bench.monitor.listen(on: Self.contexts[context]) { _ in
        if ended.value { wrong.withLock { $0 += 1 } }
        if round % 3 == 0 { sched_yield() }
        if ended.value { wrong.withLock { $0 += 1 } }
      }
      for _ in 0..<round % 8 { sched_yield() }
      subscription?.cancel()
      ended.withLock { $0 = true }
      for _ in 0..<5 { sched_yield() }
      #expect(wrong.value == 0, "round \(round)")
    }
  }

  @Test("E2-6 no listener runs after stop has returned", arguments: 0..<3)
  func nothingAfterStop(_ context: Int) throws {
    let bench = Bench()
    let storm = Storm(bench.kernel)
    defer { storm.end() }
    for round in 0..<60 {
      let (ended, wrong) = (Shared(false), Shared(0))
      let subscription = bench.monitor.listen(on: Self.contexts[context]) { _ in
        if ended.value { wrong.withLock { $0 += 1 } }
        sched_yield()
        if ended.value { wrong.withLock { $0 += 1 } }
      }
      try bench.monitor.start()
      for _ in 0..<round % 8 { sched_yield() }
      bench.monitor.stop()
      ended.withLock { $0 = true }
      #expect(bench.monitor.snapshot.status == .unknown, "round \(round)")
      for _ in 0..<5 { sched_yield() }
      #expect(bench.monitor.snapshot.status == .unknown, "no reading is taken in after the stop")
      #expect(wrong.value == 0, "round \(round)")
      withExtendedLifetime(subscription) {}
    }
  }

  @Test("E2-8 two concurrent cancels both wait for the running call")
  func concurrentCancel() throws {
    let bench = try Bench.started()
    for round in 0..<100 {
      let isInside = Shared(false)
      let entered = DispatchSemaphore(value: 0)
      let subscription = bench.monitor.listen(on: .queue(.global())) { _ in
        isInside.withLock { $0 = true }
        entered.signal()
        pause(.milliseconds(3), because: "a cancel that does not wait returns meanwhile")
        isInside.withLock { $0 = false }
      }
      entered.wait()
      onThreads(3) { _ in
        subscription?.cancel()
        #expect(!isInside.value, "round \(round)")
      }
    }
  }

  @Test("D-03 E2-8 a monitor works after concurrent calls of everything")
  func everythingAtOnce() throws {
    for round in 0..<30 {
      let bench = Bench()
      onThreads(6) { thread in
        for step in 0..<60 {
          switch (thread, step % 2) {
          case (0...1, 0): try? bench.monitor.start()
          case (0...1, _): bench.monitor.stop()
          case (2, 0): bench.loseDefault()
          case (2, _): bench.gainDefault(via: "10.0.0.\(step + 1)")
          case (3, _): _ = bench.monitor.snapshot
          case (4, _): _ = try? bench.monitor.evaluate(.default)
          default:
            let subscription = bench.monitor.listen(watching: [.localLink], on: .immediate) { _ in }
            subscription?.cancel()
          }
        }
      }
      bench.monitor.stop()
      #expect(bench.monitor.snapshot.status == .unknown, "round \(round)")
      bench.kernel.change { $0 = .wired }
      try bench.monitor.start()
      #expect(bench.monitor.snapshot.status == online, "round \(round)")
      bench.loseDefault()
      bench.kernel.advance(by: Bench.settle)
      #expect(bench.monitor.snapshot.status == .notReachable, "round \(round)")
    }
  }

  @Test("E2-5 calls of one listener are serial on concurrent queues")
  func order() async throws {
    let bench = try Bench.started()
    let heard = Shared<[UInt64]>([])
    let (inside, overlaps) = (Shared(0), Shared(0))
    let subscription = bench.monitor.listen(to: .all, on: .queue(.global())) { update in
      let others = inside.withLock { inside in
        inside += 1
        return inside - 1
      }
      if others > 0 { overlaps.withLock { $0 += 1 } }
      // Time for another call to begin, if it could.
      sched_yield()
      heard.withLock { $0.append(update.snapshot.sequence) }
      inside.withLock { $0 -= 1 }
    }
    for step in 1...2000 {
      bench.kernel.change { $0.change("eth0") { $0.mtu = 1500 + UInt32(step) } }
    }
    let last = bench.monitor.snapshot.sequence
    #expect(await eventually(within: .seconds(120)) { () async in heard.withLock(\.last) == last })
    #expect(overlaps.value == 0)
    #expect(heard.withLock { $0 == $0.sorted() })
    withExtendedLifetime(subscription) {}
  }
}
