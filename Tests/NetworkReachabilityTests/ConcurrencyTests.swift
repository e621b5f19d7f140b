import Dispatch
import Glibc
import NetworkReachability
import NetworkReachabilityTesting
import TestSupport
import Testing

/// A kernel whose first reading waits until the test lets it go.
private final class SlowKernel: KernelSource {
  let inner: ScriptedKernel
  let entered = DispatchSemaphore(value: 0)
  let release = DispatchSemaphore(value: 0)
  let error: KernelError?

  init(_ inner: ScriptedKernel, failing error: KernelError? = nil) {
    self.inner = inner
    self.error = error
  }

  func start(_ observer: any KernelObserver) throws(KernelError) {
    entered.signal()
    release.wait()
    if let error { throw error }
    try inner.start(observer)
  }

  func refresh() { inner.refresh() }
  func lookUp(_ queries: [RouteQuery]) throws(KernelError) -> [RouteQuery: RouteAnswer] { try inner.lookUp(queries) }
  var timeSinceProgress: Duration { inner.timeSinceProgress }
  func stop() { inner.stop() }
}

@Suite("Concurrent starts, stops and cancels", .serialized)
struct ConcurrencyTests {
  @Test("E2-7 concurrent starts both return after the first reading")
  func twoStarts() throws {
    let kernel = SlowKernel(ScriptedKernel(.wired))
    let monitor = ReachabilityMonitor(kernel: { kernel })
    let group = DispatchGroup()
    let seen = Shared<[ReachabilityStatus]>([])
    let begun = Shared(0)
    for number in 0..<4 {
      DispatchQueue(label: "start \(number)").async(group: group) {
        begun.withLock { $0 += 1 }
        try? monitor.start()
        let status = monitor.snapshot.status
        seen.withLock { $0.append(status) }
      }
    }
    kernel.entered.wait()
    #expect(eventually { begun.value == 4 })
    for _ in 0..<1000 { sched_yield() }
    #expect(seen.value.isEmpty, "none returned before the reading was made")
    kernel.release.signal()
    group.wait()
    #expect(seen.value == [online, online, online, online])
  }

  @Test("Concurrent starts share an error; the next tries again")
  func twoStartsFail() throws {
    let error = KernelError(operation: "socket", errno: EPERM, message: "no")
    let attempts = Shared(0)
    let (slow, good) = (SlowKernel(ScriptedKernel(.wired), failing: error), ScriptedKernel(.wired))
    let monitor = ReachabilityMonitor(kernel: {
      attempts.withLock { attempts -> any KernelSource in
        attempts += 1
        return attempts <= 2 ? slow : good
      }
    })
    let group = DispatchGroup()
    let errors = Shared<[KernelError]>([])
    for number in 0..<2 {
      DispatchQueue(label: "start \(number)").async(group: group) {
        do throws(KernelError) { try monitor.start() } catch { errors.withLock { $0.append(error) } }
      }
    }
    // Each that makes an attempt of its own must be released.
    for _ in 0..<2 { slow.release.signal() }
    group.wait()
    #expect(errors.value == [error, error])
    #expect(monitor.snapshot.machine.reason == .kernelUnavailable)
    attempts.withLock { $0 = 2 }
    try monitor.start()
    #expect(monitor.snapshot.status == online)
  }

  @Test("E2-10 listeners that cancel each other do not deadlock", arguments: [2, 3, 5])
  func circle(_ count: Int) throws {
    for round in 0..<50 {
      let monitors = try (0..<count).map { _ in try Bench.started() }
      let subscriptions = Shared<[Int: ReachabilityMonitor.Subscription]>([:])
      let (inside, done) = (DispatchGroup(), DispatchGroup())
      for _ in 0..<count {
        inside.enter()
        done.enter()
      }
      // No listener is cancelled before all are subscribed.
      inside.enter()
      for number in 0..<count {
        let isFirst = Shared(true)
        // Each on a thread and a monitor of its own.
        let subscription = monitors[number].monitor.listen(on: .queue(DispatchQueue(label: "\(number)"))) { _ in
          let mustAct = isFirst.withLock { first in
            defer { first = false }
            return first
          }
          guard mustAct else { return }
          inside.leave()
          // All listeners run concurrently.
          inside.wait()
          subscriptions.withLock { $0[(number + 1) % count] }?.cancel()
          done.leave()
        }
        subscriptions.withLock { $0[number] = subscription }
      }
      inside.leave()
      let outcome = done.wait(timeout: .now() + 60)
      #expect(outcome == .success, "round \(round): a circle of \(count)")
      guard outcome == .success else { return }
      for subscription in subscriptions.value.values { subscription.cancel() }
    }
  }

  @Test("E2-6 cancel inside another listener waits for the running call")
  func cancelFromAnother() throws {
    for _ in 0..<50 {
      let bench = try Bench.started()
      let isInside = Shared(false)
      let entered = DispatchSemaphore(value: 0)
      let slow = bench.monitor.listen(on: .queue(DispatchQueue(label: "slow"))) { _ in
        isInside.withLock { $0 = true }
        entered.signal()
        pause(.milliseconds(2), because: "a cancel that does not wait returns meanwhile")
        isInside.withLock { $0 = false }
      }
      let (wasInside, done) = (Shared<Bool?>(nil), DispatchSemaphore(value: 0))
      let other = bench.monitor.listen(on: .queue(DispatchQueue(label: "other"))) { _ in
        entered.wait()
        slow?.cancel()
        let value = isInside.value
        wasInside.withLock { $0 = value }
        done.signal()
      }
      done.wait()
      #expect(wasInside.value == false)
      other?.cancel()
    }
  }

  @Test("E2-10 two listeners may stop one monitor concurrently")
  func stopTogether() throws {
    for _ in 0..<100 {
      let bench = Bench()
      let monitor = bench.monitor
      let calls = Shared(0)
      let subscriptions = (0..<2).map { number in
        monitor.listen(on: .queue(DispatchQueue(label: "\(number)"))) { [weak monitor] _ in
          monitor?.stop()
          calls.withLock { $0 += 1 }
        }
      }
      try monitor.start()
      #expect(eventually { calls.value > 0 && monitor.snapshot.status == .unknown })
      withExtendedLifetime(subscriptions) {}
    }
  }
}
