import NetworkReachability
import NetworkReachabilityTesting
import TestSupport
import Testing

@Suite("Watched names")
struct WatchedNameTests {
  @Test("E3-3 E3-4 C-01 a watched name is first evaluated by the default path")
  func optimistic() throws {
    for script in [KernelScript.wired, .withoutDefault] {
      let bench = try Bench.started(script)
      let (recorder, subscription) = try bench.record(
        .host, watching: [try ReachabilityTarget(host: "nowhere.example")])
      let first = try #require(recorder.hosts.first)
      #expect(first.phase == .optimistic && first.addresses.isEmpty)
      #expect(first.path.status == bench.monitor.snapshot.status)
      subscription.cancel()
    }
  }

  @Test("A watched name without servers is optimistic, with the reason")
  func serversFail() async throws {
    let bench = try Bench.started()
    let (recorder, subscription) = try bench.record(.host, watching: [try ReachabilityTarget(host: "nowhere.example")])
    #expect(await eventually(within: .seconds(120)) { () async in recorder.hosts.last?.path.reason != nil })
    let last = try #require(recorder.hosts.last)
    #expect(last.path.status == online && last.phase == .optimistic)
    #expect([.dnsServerFailure, .dnsTimeout].contains(last.path.reason))
    #expect(recorder.transitions.last?.causes == [.dnsChanged])
    subscription.cancel()
  }

  @Test("E3-7 A-03 a name of the hosts file needs no server")
  func hostsFile() async throws {
    let bench = try Bench.started(.withoutDefault)
    let target = try ReachabilityTarget(host: "localhost")
    let (recorder, subscription) = try bench.record(.host, watching: [target])
    #expect(await eventually(within: .seconds(120)) { () async in recorder.hosts.last?.phase == .resolved })
    let last = try #require(recorder.hosts.last)
    #expect(last.path.flags == [.reachable, .isLocalAddress])
    #expect(last.addresses.contains { $0.address == IPAddress("127.0.0.1") })
    #expect(bench.monitor.verdict(of: target) == last)
    #expect(recorder.hosts.count == 1, "this machine is never reported as unreachable from itself (RFC 6761)")
    let asked = await bench.monitor.resolve("localhost", timeout: .seconds(60))
    guard case .addresses(let found, _) = asked, case .addresses(let own, _) = target.specialAddresses else {
      Issue.record("\(asked)")
      return
    }
    #expect(Set(found).isSubset(of: own))
    subscription.cancel()
    #expect(bench.monitor.verdict(of: target) == nil)
  }

  @Test("Repeated cancels leave a name watched by others")
  func endedTwice() async throws {
    let bench = try Bench.started()
    let target = try ReachabilityTarget(host: "localhost")
    let (_, first) = try bench.record(.host, watching: [target])
    let (recorder, second) = try bench.record(.host, watching: [target])
    for _ in 0..<3 { first.cancel() }
    bench.gainDefault(via: "10.0.0.2", [])
    bench.loseDefault()
    bench.kernel.advance(by: Bench.settle)
    #expect(await eventually(within: .seconds(120)) { () async in recorder.hosts.last?.phase == .resolved })
    second.cancel()
  }

  @Test("Watched names survive concurrent starts and stops")
  func comeAndGo() async throws {
    for _ in 0..<10 {
      let bench = Bench()
      let target = try ReachabilityTarget(host: "localhost")
      onThreads(4) { thread in
        for step in 0..<25 {
          switch thread {
          case 0 where step.isMultiple(of: 2): try? bench.monitor.start()
          case 0: bench.monitor.stop()
          default: bench.monitor.listen(watching: [target], on: .immediate) { _ in }?.cancel()
          }
        }
      }
      bench.monitor.stop()
      let (recorder, subscription) = try bench.record(.host, watching: [target])
      try bench.monitor.start()
      #expect(await eventually(within: .seconds(120)) { () async in recorder.hosts.last?.phase == .resolved })
      subscription.cancel()
    }
  }
}
