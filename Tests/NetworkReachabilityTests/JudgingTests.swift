import Dispatch
import Locks
import NetworkReachabilityTesting
import Testing

@testable import NetworkReachability

/// A kernel that does not answer whom it must make wait before a test says so.
private final class BusyKernel: KernelSource {
  private let script = ScriptedKernel(.wired)
  private let asked = Locked<[Int]>([])
  let isFree = DispatchSemaphore(value: 0)
  let isAsked = DispatchSemaphore(value: 0)

  /// The number of lookups of each call.
  var calls: [Int] { asked.withLock(\.self) }

  func start(_ observer: any KernelObserver) throws(KernelError) { try script.start(observer) }
  func refresh() { script.refresh() }
  func lookUp(_ queries: [RouteQuery]) throws(KernelError) -> [RouteQuery: RouteAnswer] {
    asked.withLock { $0.append(queries.count) }
    isAsked.signal()
    isFree.wait()
    return try script.lookUp(queries)
  }
  func nonblockingLookup(_ queries: [RouteQuery]) throws(KernelError) -> [RouteQuery: RouteAnswer] {
    try script.lookUp(queries)
  }
  var timeSinceProgress: Duration { .zero }
  func stop() { script.stop() }
}

@Suite("Evaluation without waiting for the kernel")
struct JudgingTests {
  private let kernel = BusyKernel()
  private let monitor: ReachabilityMonitor

  init() throws {
    monitor = ReachabilityMonitor(kernel: { [kernel] in kernel })
    try monitor.start()
  }

  @Test("Requests during a lookup are answered together, in order")
  func together() throws {
    let told = Locked<[String]>([])
    let isDone = DispatchSemaphore(value: 0)
    for number in 1...20 {
      monitor.evaluate(try ReachabilityTarget(host: "192.0.2.\(number)")) { answer in
        let path = try? answer.get().path
        told.withLock { $0.append("\(number) \(path?.status ?? .unknown)") }
        isDone.signal()
      }
      if number == 1 { kernel.isAsked.wait() }
    }
    #expect(told.withLock(\.self).isEmpty)
    #expect(kernel.calls == [1])
    for _ in 0..<2 { kernel.isFree.signal() }
    for _ in 0..<20 { isDone.wait() }
    #expect(told.withLock(\.self) == (1...20).map { "\($0) \(online)" })
    #expect(kernel.calls == [1, 19])
  }

  @Test("A request that waits too long is answered once")
  func patience() throws {
    let told = Locked(0)
    let isDone = DispatchSemaphore(value: 0)
    for number in 1...3 {
      monitor.evaluate(try ReachabilityTarget(host: "192.0.2.\(number)")) { answer in
        #expect((try? answer.get().path.status) == online)
        told.withLock { $0 += 1 }
        isDone.signal()
      }
      if number == 1 { kernel.isAsked.wait() }
    }
    for _ in 1...3 { #expect(isDone.wait(timeout: .now() + 60) == .success) }
    // A request that arrives while the kernel is busy does not wait either.
    let isLate = DispatchSemaphore(value: 0)
    monitor.evaluate(try ReachabilityTarget(host: "192.0.2.9")) { answer in
      #expect((try? answer.get().path.status) == online)
      isLate.signal()
    }
    #expect(isLate.wait(timeout: .now() + 60) == .success)
    #expect(kernel.calls == [1], "the first question is still being asked")
    kernel.isFree.signal()
    let last = DispatchSemaphore(value: 0)
    monitor.evaluate(.default) { _ in last.signal() }
    kernel.isAsked.wait()
    kernel.isFree.signal()
    last.wait()
    #expect(told.withLock(\.self) == 3)
  }

  @Test("A provisional verdict does not wait for the kernel")
  func nonblockingLookup() throws {
    let isDone = DispatchSemaphore(value: 0)
    monitor.evaluate(.default) { _ in isDone.signal() }
    kernel.isAsked.wait()
    let nonblockingLookup = try #require(try monitor.provisionalVerdict(of: ReachabilityTarget(host: "10.0.0.9")))
    #expect(nonblockingLookup.verdict.path.flags == [.reachable, .isDirect] && !nonblockingLookup.isStale)
    #expect(nonblockingLookup.routeTypes == [.unicast])
    #expect(
      try monitor.provisionalVerdict(of: ReachabilityTarget(host: "10.0.0.9", interface: "eth9"))?.isStale == true,
      "it may be new"
    )
    kernel.isFree.signal()
    isDone.wait()
  }

  @Test("Without a reading there is no provisional verdict")
  func withoutReading() throws {
    let bench = Bench()
    #expect(bench.monitor.provisionalVerdict(of: .default) == nil)
    let answer = Locked<HostVerdict?>(nil)
    let isDone = DispatchSemaphore(value: 0)
    bench.monitor.evaluate(.default) { result in
      answer.withLock { $0 = try? result.get() }
      isDone.signal()
    }
    isDone.wait()
    #expect(answer.withLock(\.self)?.path.status == online)
    #expect(bench.monitor.snapshot == .unknown(.starting))
  }

  @Test("A failed lookup is reported to all waiting requests")
  func refused() throws {
    let bench = Bench()
    let error = KernelError(operation: "socket", errno: 1, message: "Operation not permitted")
    bench.kernel.refuseStart(error)
    let isDone = DispatchSemaphore(value: 0)
    for _ in 0..<3 {
      bench.monitor.evaluate(.default) { result in
        #expect(throws: error) { try result.get() }
        isDone.signal()
      }
    }
    for _ in 0..<3 { isDone.wait() }
  }
}
