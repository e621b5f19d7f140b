import NetworkReachability
import NetworkReachabilityTesting
import Testing

@Suite("Scripted names")
struct ScriptedNamesTests {
  private let kernel = ScriptedKernel(.wired)
  private let names = ScriptedNames(["db.internal": ["10.0.0.9"], "nowhere.internal": []])

  private func monitor() throws -> ReachabilityMonitor {
    let monitor = ReachabilityMonitor(configuration: .init(settle: .zero), kernel: kernel, names: names)
    try monitor.start()
    return monitor
  }

  @Test("Scripted names are evaluated by addresses, in any case")
  func told() throws {
    let monitor = try monitor()
    let target = try ReachabilityTarget(host: "DB.internal")
    let recorder = UpdateRecorder()
    let subscription = monitor.listen(to: .host, watching: [target], on: .immediate) { recorder.record($0) }
    #expect(recorder.hosts.map(\.phase) == [.resolved] && recorder.hosts.last?.isConfirmedReachable == true)
    names.change("db.internal.", to: ["192.0.2.1", "192.0.2.2"])
    #expect(recorder.hosts.last?.addresses.map(\.address.description) == ["192.0.2.1", "192.0.2.2"])
    #expect(recorder.transitions.last?.causes == [.dnsChanged])
    kernel.change { $0.removeDefaults(.ipv4) }
    #expect(recorder.hosts.last?.path.status == .notReachable)
    names.change("db.internal", to: ["10.0.0.9"])
    #expect(recorder.hosts.last?.isConfirmedReachable == true)
    let count = recorder.hosts.count
    names.change("db.internal", to: .failed(.dnsServerFailure))
    names.change("other.internal", to: ["10.0.0.8"])
    #expect(recorder.hosts.count == count, "servers that fail take nothing away, and other names do not matter")
    names.change("db.internal", to: [])
    #expect(recorder.hosts.last?.path.reason == .dnsNotFound)
    names.change("db.internal", to: .failed(.dnsTimeout))
    #expect(recorder.hosts.last?.path.reason == .dnsNotFound, "a server that falls silent does not create the name")
    subscription?.cancel()
    names.change("db.internal", to: ["10.0.0.9"])
    #expect(recorder.hosts.count == count + 1)
  }

  @Test("Unknown names do not exist; pending ones are optimistic")
  func unknown() throws {
    let monitor = try monitor()
    names.change("slow.internal", to: .pending)
    names.change("broken.internal", to: .failed(.dnsTimeout))
    let found = try ["localhost", "nowhere.internal", "slow.internal", "broken.internal"].map { name in
      let target = try ReachabilityTarget(host: name)
      let subscription = monitor.listen(to: [], watching: [target], on: .immediate) { _ in }
      defer { subscription?.cancel() }
      let verdict = try #require(monitor.verdict(of: target))
      return "\(verdict.path.status) \(verdict.phase) \(verdict.path.reason?.description ?? "-")"
    }
    #expect(
      found == [
        "notReachable resolved dnsNotFound", "notReachable resolved dnsNotFound",
        "reachable(ethernetOrWiFi) optimistic -", "reachable(ethernetOrWiFi) optimistic dnsTimeout",
      ])
  }

  @Test("A wait for a name ends with a routed address")
  func waiting() async throws {
    let monitor = try monitor()
    let target = try ReachabilityTarget(host: "late.internal")
    #expect(await !monitor.waitUntilReachable(target, timeout: .zero))
    let waiter = Task { await monitor.waitUntilReachable(target, timeout: .seconds(30)) }
    while monitor.verdict(of: target) == nil { await Task.yield() }
    names.change("late.internal", to: ["10.0.0.7"])
    #expect(await waiter.value)
    #expect(await monitor.waitUntilReachable(target, timeout: .zero))
  }

  @Test("The script resolves names and literals; pending is a timeout")
  func asked() async throws {
    let monitor = try monitor()
    names.change("slow.internal", to: .pending)
    let address = try #require(IPAddress("10.0.0.9"))
    #expect(await monitor.resolve("db.internal", timeout: .seconds(1)) == .addresses([address]))
    #expect(await monitor.resolve("10.0.0.9", timeout: .seconds(1)) == .addresses([address]))
    #expect(await monitor.resolve("nowhere.internal", timeout: .seconds(1)) == .notFound)
    #expect(await monitor.resolve("slow.internal", timeout: .seconds(1)) == .failed(.dnsTimeout))
  }

  @Test("Two monitors may have the same names")
  func shared() throws {
    let target = try ReachabilityTarget(host: "db.internal")
    let monitors = [try monitor(), try monitor()]
    let subscriptions = monitors.map { $0.listen(watching: [target], on: .immediate) { _ in } }
    names.change("db.internal", to: .notFound)
    for monitor in monitors { #expect(monitor.verdict(of: target)?.path.reason == .dnsNotFound) }
    withExtendedLifetime(subscriptions) {}
  }
}
