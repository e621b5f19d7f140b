import Locks
import HostResolver
import NetworkReachabilityTesting
import TestSupport
import Testing

@testable import NetworkReachability

/// Watched names, with a name server that the test plays.
@Suite("Watched names and name servers")
struct NameServerTests {
  static let wait = Duration.seconds(120)

  private struct Watched {
    let bench: Bench
    let server: DNSServer
    let recorder: UpdateRecorder
    let subscription: ReachabilityMonitor.Subscription
  }

  /// A started machine that watches `db.example`, with a server that answers by `handler`.
  private func watch(
    _ script: KernelScript = .wired, timeout: Duration = .seconds(5), _ handler: @escaping DNSServer.Handler
  ) throws -> Watched {
    let server = try DNSServer(handler)
    let bench = Bench(script, settle: .zero, nameServers: [server.address], nameTimeout: timeout)
    try bench.monitor.start()
    let (recorder, subscription) = try bench.record(.host, watching: [try ReachabilityTarget(host: "db.example.")])
    return Watched(bench: bench, server: server, recorder: recorder, subscription: subscription)
  }

  /// Another default route, after which every name is resolved again.
  private func changeWay(_ bench: Bench, _ number: Int = 2) {
    bench.kernel.change { $0.addDefault(via: "10.0.0.\(number)", on: 2, metric: UInt32(100 - number)) }
  }

  @Test("E3-4 a name follows its existence")
  func appears() async throws {
    let isTold = Locked(false)
    let watched = try watch { _, _ in
      // The answer may arrive before the kernel's reading.
      _ = eventually { isTold.withLock(\.self) }
      return .noSuchName
    }
    defer { watched.server.stop() }
    let first = watched.recorder.hosts.first
    isTold.withLock { $0 = true }
    #expect(first?.path.status == online && first?.phase == .optimistic)
    #expect(await eventually(within: Self.wait) { () async in watched.recorder.hosts.last?.phase == .resolved })
    let missing = try #require(watched.recorder.hosts.last)
    #expect(missing.path.status == .notReachable && missing.path.flags == [] && missing.path.reason == .dnsNotFound)
    watched.server.answer { _, _ in .addresses([[10, 0, 0, 9]]) }
    changeWay(watched.bench)
    #expect(await eventually(within: Self.wait) { () async in watched.recorder.hosts.last?.path.status == online })
    let found = try #require(watched.recorder.hosts.last)
    #expect(found.addresses.map(\.address.description) == ["10.0.0.9"] && found.path.flags.contains(.isDirect))
    #expect(watched.recorder.transitions.last?.causes.contains(.dnsChanged) == true)
    watched.subscription.cancel()
  }

  @Test("Unanswered requests do not delay watched names")
  func visitorsHaveALineOfTheirOwn() async throws {
    let watched = try watch { name, _ in name.hasPrefix("silent") ? .silence : .addresses([[10, 0, 0, 9]]) }
    defer { watched.server.stop() }
    #expect(await eventually(within: Self.wait) { () async in watched.recorder.hosts.last?.phase == .resolved })
    let monitor = watched.bench.monitor
    for number in 0..<1_000 { monitor.resolve("silent\(number).example.", timeout: .seconds(600)) { _ in } }
    // 64 at a time for some seconds each: in the same queue it would wait for a minute.
    let target = try ReachabilityTarget(host: "other.example.")
    #expect(await monitor.waitUntilReachable(target, timeout: .seconds(30)))
    watched.subscription.cancel()
  }

  @Test("Another default route empties all name caches")
  func cachesAreEmptied() async throws {
    let watched = try watch { _, _ in .addresses([[10, 0, 0, 9]], timeToLive: 3_000) }
    defer { watched.server.stop() }
    let monitor = watched.bench.monitor
    let (old, new) = (IPAddress(ipv4: 0x0a00_0009), IPAddress(ipv4: 0x0a00_000a))
    #expect(await monitor.resolve("other.example.", timeout: .seconds(30)) == .addresses([old]))
    watched.server.answer { _, _ in .addresses([[10, 0, 0, 10]]) }
    changeWay(watched.bench)
    #expect(
      await eventually(within: Self.wait) { () async in
        await monitor.resolve("other.example.", timeout: .seconds(30)) == .addresses([new])
      })
    watched.subscription.cancel()
  }

  @Test("E3-6 answers to queries before a network change are dropped")
  func lateAnswer() async throws {
    let watched = try watch { _, _ in .held([[203, 0, 113, 1]]) }
    defer { watched.server.stop() }
    #expect(await eventually(within: Self.wait) { () async in watched.server.count("db.example") >= 2 })
    watched.server.answer { _, _ in .addresses([[10, 0, 0, 9]]) }
    changeWay(watched.bench)
    #expect(await eventually(within: Self.wait) { () async in watched.recorder.hosts.last?.phase == .resolved })
    watched.server.release()
    // A request after the late answer is answered after that was handled.
    let (other, otherSubscription) = try watched.bench.record(
      .host, watching: [try ReachabilityTarget(host: "other.example.")])
    #expect(await eventually(within: Self.wait) { () async in other.hosts.last?.phase == .resolved })
    #expect(watched.recorder.hosts.allSatisfy { !$0.addresses.contains { $0.address == IPAddress("203.0.113.1") } })
    #expect(watched.recorder.hosts.last?.addresses.map(\.address.description) == ["10.0.0.9"])
    otherSubscription.cancel()
    watched.subscription.cancel()
  }

  @Test(
    "A failing server leaves a name optimistic, with the reason",
    arguments: [
      (DNSReply.serverFailure, Reason.dnsServerFailure), (.refused, .dnsServerFailure), (.silence, .dnsTimeout),
    ])
  func failing(_ reply: DNSReply, _ reason: Reason) async throws {
    // The monitor's timeout applies: with the default of 5 s the lookup would still wait.
    let watched = try watch(timeout: .milliseconds(300)) { _, _ in reply }
    defer { watched.server.stop() }
    #expect(await eventually(within: Self.wait) { () async in watched.recorder.hosts.last?.path.reason != nil })
    let last = try #require(watched.recorder.hosts.last)
    #expect(last.path.status == online && last.phase == .optimistic && last.path.reason == reason)
    watched.subscription.cancel()
  }

  @Test("When the servers fail, the last addresses stay")
  func failingLater() async throws {
    let watched = try watch { _, _ in .addresses([[10, 0, 0, 9]]) }
    defer { watched.server.stop() }
    #expect(await eventually(within: Self.wait) { () async in watched.recorder.hosts.last?.phase == .resolved })
    let asked = watched.server.total
    watched.server.answer { _, _ in .serverFailure }
    changeWay(watched.bench)
    #expect(await eventually(within: Self.wait) { () async in watched.server.total >= asked + 2 })
    let (other, otherSubscription) = try watched.bench.record(
      .host, watching: [try ReachabilityTarget(host: "other.example.")])
    #expect(await eventually(within: Self.wait) { () async in other.hosts.last?.path.reason != nil })
    #expect(watched.recorder.hosts.last?.phase == .resolved)
    #expect(watched.recorder.hosts.last?.addresses.map(\.address.description) == ["10.0.0.9"])
    otherSubscription.cancel()
    watched.subscription.cancel()
  }

  @Test("E3-5 the family with a route is the verdict")
  func families() async throws {
    let six: [UInt8] = [0x20, 0x01, 0x0d, 0xb8] + [UInt8](repeating: 0, count: 11) + [1]
    let watched = try watch { _, _ in .addresses([[192, 0, 2, 1], six]) }
    defer { watched.server.stop() }
    #expect(await eventually(within: Self.wait) { () async in watched.recorder.hosts.last?.phase == .resolved })
    let last = try #require(watched.recorder.hosts.last)
    #expect(last.addresses.map(\.path.status.isReachable) == [false, true], "IPv6 first, without a way")
    #expect(last.path.status == online)
    watched.subscription.cancel()
  }

  @Test("Route changes renew names once a second at most")
  func pace() async throws {
    let watched = try watch { _, _ in .addresses([[10, 0, 0, 9]], timeToLive: 300) }
    defer { watched.server.stop() }
    #expect(await eventually(within: Self.wait) { () async in watched.recorder.hosts.last?.phase == .resolved })
    let start = ContinuousClock.now
    for number in 2..<90 {
      changeWay(watched.bench, number)
      await pause(.milliseconds(5), because: "the changes take half a second, most of the time between two lookups")
    }
    // Before the time: under load, seconds may pass between the two.
    let count = watched.server.count("db.example")
    let seconds = Int((ContinuousClock.now - start) / .seconds(1)) + 1
    // Two families: once before, then once a second from the first verdict.
    #expect(count <= 2 * (2 + seconds))
    #expect(await eventually(within: Self.wait) { () async in watched.server.count("db.example") >= 4 })
    watched.subscription.cancel()
  }

  @Test("Unanswered ephemeral names do not delay other watched names")
  func visitorsWatchesHaveALineOfTheirOwn() async throws {
    let server = try DNSServer { name, _ in name.hasPrefix("silent") ? .silence : .addresses([[10, 0, 0, 9]]) }
    defer { server.stop() }
    let bench = Bench(.wired, settle: .zero, nameServers: [server.address], nameTimeout: .seconds(3_000))
    try bench.monitor.start()
    let inline = DeliveryContext { $0() }
    let names = (0..<400).map { "silent\($0).example." } + ["db.example."]
    let visits = try names.map { name in
      let target = try ReachabilityTarget(host: name)
      return try #require(bench.monitor.listen(forClientOf: target, client: "c", on: inline) { _ in })
    }
    // Two families of all concurrent queries; the ephemeral name is queued behind the others.
    #expect(await eventually(within: Self.wait) { () async in server.total >= 128 })
    #expect(server.count("db.example") == 0)
    let (recorder, subscription) = try bench.record(.host, watching: [try ReachabilityTarget(host: "db.example.")])
    #expect(await eventually(within: Self.wait) { () async in recorder.hosts.last?.phase == .resolved })
    for visit in visits { visit.cancel() }
    #expect(recorder.hosts.last?.phase == .resolved)
    subscription.cancel()
  }

  @Test("A rotated answer is no change")
  func rotation() async throws {
    let turns = Locked(0)
    let watched = try watch { _, _ in
      let turn = turns.withLock { turns in
        turns += 1
        return turns
      }
      return .addresses(turn.isMultiple(of: 2) ? [[10, 0, 0, 9], [10, 0, 0, 8]] : [[10, 0, 0, 8], [10, 0, 0, 9]])
    }
    defer { watched.server.stop() }
    #expect(await eventually(within: Self.wait) { () async in watched.recorder.hosts.last?.phase == .resolved })
    let before = watched.server.count("db.example")
    for number in 2..<6 {
      changeWay(watched.bench, number)
      let least = before + 2 * (number - 1)
      #expect(await eventually(within: Self.wait) { () async in watched.server.count("db.example") >= least })
    }
    let orders = Set(watched.recorder.hosts.filter { $0.phase == .resolved }.map { $0.addresses.map(\.address) })
    #expect(orders.count == 1)
    watched.subscription.cancel()
  }

  @Test("A cancelled request does not wait for its answer")
  func cancelled() async throws {
    let server = try DNSServer { _, _ in .silence }
    defer { server.stop() }
    let bench = Bench(.wired, settle: .zero, nameServers: [server.address])
    let task = Task { await bench.monitor.resolve("db.example.", timeout: .seconds(3_000)) }
    #expect(await eventually(within: Self.wait) { () async in server.total > 0 })
    task.cancel()
    #expect(await task.value == .failed(.dnsTimeout))
  }

  @Test("Answers are used for 5 s to 5 minutes")
  func lives() {
    func life(_ lives: [Duration?]) -> Duration {
      let addresses = lives.map { ResolvedAddress(bytes: [10, 0, 0, 9], timeToLive: $0) }
      return NameWatch.timeToLive(of: .success(ResolvedAddresses(addresses)), clientNames: 0)
    }
    #expect(life([.zero]) == .seconds(5))
    #expect(life([.seconds(60), .seconds(30)]) == .seconds(30))
    #expect(life([.seconds(Int64(Int32.max))]) == .seconds(300))
    #expect(life([nil]) == .seconds(300), "the hosts file tells its changes by itself")
    #expect(NameWatch.timeToLive(of: .failure(.notFound), clientNames: 0) == .seconds(5))
    #expect(NameWatch.timeToLive(of: .failure(.timeout), clientNames: 0) == .seconds(5))
  }

  @Test("Many names of one client are looked up five per second")
  func clientNames() {
    let brief = ResolvedAddresses([ResolvedAddress(bytes: [10, 0, 0, 9], timeToLive: .seconds(1))])
    func life(_ names: Int) -> Duration { NameWatch.timeToLive(of: .success(brief), clientNames: names) }
    #expect(life(1) == .seconds(5) && life(25) == .seconds(5))
    #expect(life(64) == .milliseconds(12_800) && life(640) == .seconds(128))
    #expect(NameWatch.timeToLive(of: .failure(.timeout), clientNames: 640) == .seconds(128))
    let long = ResolvedAddresses([ResolvedAddress(bytes: [10, 0, 0, 9], timeToLive: .seconds(300))])
    #expect(NameWatch.timeToLive(of: .success(long), clientNames: 640) == .seconds(300))
  }

  @Test("The names of a client are counted while it watches them")
  func countedClientNames() throws {
    let bench = Bench(.wired, settle: .zero, nameServers: ["127.0.0.1:1"])
    let names = NameWatcher(bench.monitor.nameResolver, timeout: .seconds(5))
    let targets = try (0..<3).map { try ReachabilityTarget(host: "h\($0).example.") }
    for (number, target) in targets.enumerated() { names.watch(target, for: number, client: "a") }
    names.watch(targets[0], for: 10, client: "b")
    #expect(names.clientNames == ["a": 3])
    names.unwatch(targets[0], for: 0)
    #expect(names.clientNames == ["a": 3], "the lookups of a name belong to the client that came first")
    names.unwatch(targets[0], for: 10)
    names.unwatch(targets[0], for: 10)
    #expect(names.clientNames == ["a": 2])
    names.watch(targets[1], for: 20)
    for number in [1, 2] { names.unwatch(targets[number], for: number) }
    #expect(names.clientNames.isEmpty)
  }

  @Test("More names than concurrent queries are all resolved")
  func many() async throws {
    let server = try DNSServer { _, _ in .addresses([[10, 0, 0, 9]]) }
    defer { server.stop() }
    let lines = NameResolverPool(.init(servers: [server.address]))
    let names = NameWatcher(WatchedNameResolver(pool: lines, source: nil), timeout: .seconds(30))
    for number in 0..<4500 { names.watch(ReachabilityTarget(.name("n\(number).example.")), for: 1) }
    #expect(await eventually(within: Self.wait) { () async in server.total >= 9000 })
    lines.watches.stop()
  }
}
