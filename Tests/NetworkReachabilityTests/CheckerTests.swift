import Locks
import NetworkReachability
import NetworkReachabilityTesting
import Testing

@Suite("A check tells whose fault a failure is, and equal ones are made once")
struct CheckerTests {
  let kernel = ScriptedKernel()
  let prober = ScriptedProber()
  let monitor: ReachabilityMonitor
  let checker: Checker

  init() throws {
    let kernel = kernel
    monitor = ReachabilityMonitor(kernel: { kernel })
    try monitor.start()
    checker = Checker(monitor: monitor, prober: prober)
    kernel.change {
      $0.addLoopback()
      $0.addInterface(2, "eth0", addresses: ["10.0.0.5/24"])
      $0.addDefault(via: "10.0.0.1", on: 2)
    }
  }

  private static func result(_ state: ProbeResult.State, _ reason: Reason? = nil, _ address: String? = nil)
    -> ProbeResult
  {
    ProbeResult(
      state, reason, address: address.flatMap { IPAddress($0) }, startedAt: Timestamp(microseconds: 1),
      duration: .milliseconds(2))
  }

  private func request(_ text: String) throws -> ProbeRequest { ProbeRequest(try ProbeTarget(text)) }

  @Test("A target that answers is up, with the way its packets take")
  func up() async throws {
    prober.follow { _ in Self.result(.up, nil, "192.0.2.9") }
    let outcome = await checker.check(try request("tcp://db:5432"))
    #expect(outcome.result.state == .up)
    #expect(outcome.path?.gateway == IPAddress("10.0.0.1"))
  }

  @Test("A target that refuses is down, because our way is there")
  func down() async throws {
    prober.follow { _ in Self.result(.down, .refused, "10.0.0.9") }
    let outcome = await checker.check(try request("tcp://10.0.0.9:1"))
    #expect(outcome.result.state == .down)
    #expect(outcome.result.reason == .refused)
  }

  @Test("Without a way to an address nothing is tried, and the target is not blamed")
  func unreachableAddress() async throws {
    kernel.change { $0.removeDefaults(.ipv4) }
    let outcome = await checker.check(try request("tcp://192.0.2.9:1"))
    #expect(outcome.result.state == .unreachable)
    #expect(outcome.result.reason == .noRoute)
    #expect(prober.requests.isEmpty)
  }

  @Test("A failure whose address has lost its way meanwhile is not the target's")
  func cableAmidst() async throws {
    async let outcome = checker.check(try request("tcp://db:5432"))
    while prober.open.isEmpty { await Task.yield() }
    kernel.change { $0.removeDefaults(.ipv4) }
    prober.answer { _ in Self.result(.down, .connectTimeout, "192.0.2.9") }
    #expect(try await outcome.result.state == .unreachable)
    #expect(try await outcome.result.reason == .noRoute)
  }

  @Test("A name that does not exist is down, whatever the way")
  func notFound() async throws {
    prober.follow { _ in Self.result(.down, .dnsNotFound) }
    #expect(await checker.check(try request("tcp://db:5432")).result.state == .down)
  }

  @Test("A name that cannot be asked for while there is no way out is unreachable")
  func noServer() async throws {
    kernel.change { $0.removeDefaults(.ipv4) }
    prober.follow { _ in Self.result(.unknown, .dnsTimeout) }
    let outcome = await checker.check(try request("tcp://db:5432"))
    #expect(outcome.result.state == .unreachable)
    #expect(outcome.result.reason == .noRoute)
  }

  @Test("What the policy denies stays denied without a way, for a denial tells nothing else")
  func denied() async throws {
    kernel.change { $0.removeDefaults(.ipv4) }
    prober.follow { _ in Self.result(.unknown, .policyDenied) }
    #expect(await checker.check(try request("tcp://db:5432")).result.reason == .policyDenied)
  }

  @Test("A route target is answered by the kernel alone")
  func route() async throws {
    #expect(await checker.check(try request("route://192.0.2.9")).result.state == .up)
    kernel.change { $0.removeDefaults(.ipv4) }
    let outcome = await checker.check(try request("192.0.2.9"))
    #expect(outcome.result.state == .unreachable)
    #expect(outcome.result.reason == .noRoute)
    #expect(prober.requests.isEmpty)
  }

  @Test("Equal checks at the same time are made once, others on their own")
  func coalescing() async throws {
    let outcomes = Locked<[CheckOutcome]>([])
    for _ in 0..<3 {
      checker.check(try request("tcp://10.0.0.9:1")) { outcome in outcomes.withLock { $0.append(outcome) } }
    }
    checker.check(try request("tcp://10.0.0.9:2")) { outcome in outcomes.withLock { $0.append(outcome) } }
    #expect(prober.requests.count == 2)
    prober.answer { _ in Self.result(.up, nil, "10.0.0.9") }
    #expect(outcomes.withLock(\.count) == 4)
    checker.check(try request("tcp://10.0.0.9:1")) { _ in }
    #expect(prober.requests.count == 3, "one that has ended is made again")
    // A check under way keeps all of this alive.
    prober.answer { _ in Self.result(.up, nil, "10.0.0.9") }
  }

  @Test("An outcome that is young enough is given again")
  func maximumAge() async throws {
    prober.follow { _ in Self.result(.up, nil, "10.0.0.9") }
    let request = try request("tcp://10.0.0.9:1")
    _ = await checker.check(request)
    _ = await checker.check(request, maximumAge: .seconds(3_600))
    #expect(prober.requests.count == 1)
    _ = await checker.check(request)
    #expect(prober.requests.count == 2)
  }

  @Test("Who cancels gets its end at once; the check ends when the last has gone")
  func cancellation() async throws {
    let request = try request("tcp://10.0.0.9:1")
    let reasons = Locked<[Reason?]>([])
    let note: @Sendable (CheckOutcome) -> Void = { outcome in reasons.withLock { $0.append(outcome.result.reason) } }
    let first = checker.check(request, note)
    let second = checker.check(request, note)
    first.cancel()
    first.cancel()
    #expect(reasons.withLock(\.self) == [.cancelled])
    #expect(prober.open.count == 1)
    second.cancel()
    #expect(reasons.withLock(\.self) == [.cancelled, .cancelled])
    #expect(prober.open.isEmpty)
    // A new one does not get the old one's end.
    checker.check(request, note)
    prober.answer { _ in Self.result(.up, nil, "10.0.0.9") }
    #expect(reasons.withLock(\.self) == [.cancelled, .cancelled, nil])
  }

  @Test("A task that is cancelled ends its check")
  func taskCancellation() async throws {
    let request = try request("tcp://10.0.0.9:1")
    let task = Task { [checker] in await checker.check(request) }
    while prober.open.isEmpty { await Task.yield() }
    task.cancel()
    #expect(await task.value.result.reason == .cancelled)
  }
}
