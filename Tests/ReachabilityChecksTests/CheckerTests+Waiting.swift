import NetworkReachabilityTesting
import ReachabilityChecks
import TestSupport
import Testing

extension CheckerTests {
  @Test("A wait checks once a second")
  func pace() async throws {
    prober.follow { _ in Self.result(.down, .refused) }
    let waited = await checker.wait(for: [try request("tcp://10.0.0.9:1")], timeout: .milliseconds(3_500)) { _ in false
    }
    #expect(!waited.isFulfilled && waited.outcomes.count == 1)
    // At 0, 1, 2 and 3 s, and once for the first verdict of the route.
    #expect(prober.requests.count <= 5)
    #expect(prober.requests.count >= 2)
  }

  @Test("A wait checks immediately when the route changes")
  func routeChange() async throws {
    prober.follow { _ in Self.result(.down, .refused) }
    let request = try request("tcp://198.41.0.4:1")
    let waiting = Task { [checker] in await checker.wait(for: [request], timeout: .seconds(60)) { _ in false } }
    #expect(await eventually { () async in prober.requests.count >= 3 })
    let begin = ContinuousClock.now
    for number in 0..<30 {
      let before = prober.requests.count
      kernel.change {
        $0.removeDefaults(.ipv4)
        $0.addDefault(via: "10.0.0.\(2 + number % 2)", on: 2)
      }
      #expect(await eventually { () async in prober.requests.count > before })
    }
    #expect(.now - begin < .seconds(20), "by themselves they would come once a second")
    waiting.cancel()
    _ = await waiting.value
  }

  @Test("Without targets the condition is evaluated immediately")
  func noTargets() async throws {
    #expect(
      await checker.wait(for: [], timeout: .seconds(60)) { $0.allSatisfy { $0?.result.state == .up } }.isFulfilled)
    #expect(await !checker.wait(for: [], timeout: .zero) { _ in false }.isFulfilled)
  }

  @Test("A pending check does not delay a fulfilled condition")
  func oneIsEnough() async throws {
    let requests = [try request("tcp://10.0.0.9:1"), try request("tcp://10.0.0.9:2")]
    let waiting = Task { [checker] in
      await checker.wait(for: requests, timeout: .seconds(60)) { $0.contains { $0?.result.state == .up } }
    }
    #expect(await eventually { () async in prober.open.count == 2 })
    prober.answer { $0.target.port == 2 ? Self.result(.up) : nil }
    let waited = await waiting.value
    #expect(waited.isFulfilled && waited.outcomes.map { $0?.result.state } == [nil, .up])
  }

  @Test("The longest durations are accepted", arguments: [.seconds(Int64.max), .seconds(3_000_000_001)] as [Duration])
  func longestTimes(_ timeout: Duration) async throws {
    let request = CheckRequest(try CheckTarget("tcp://10.0.0.9:1"))
    let waiting = Task { [checker] in await checker.wait(for: [request], timeout: timeout) { _ in true } }
    #expect(await eventually { () async in !prober.open.isEmpty })
    prober.answer { _ in Self.result(.up) }
    #expect(await waiting.value.isFulfilled)
  }
}
