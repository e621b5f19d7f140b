import Logging
import NetworkReachability
import NetworkReachabilityTesting
import TestSupport
import Testing

@Suite("Monitors on the kernel's source", .enabled(if: Namespace.isSupported))
struct SharedSourceTests {
  @Test("Monitors without a logger share the descriptors of one, and the last one closes them")
  func descriptors() throws {
    let namespace = try Namespace()
    try namespace.unshareDescriptors()
    let counts = try namespace.run { () throws(KernelError) -> [Int] in
      var counts = [Namespace.openFileCount()]
      var monitors: [ReachabilityMonitor] = []
      for _ in 0..<10 {
        let monitor = ReachabilityMonitor()
        try monitor.start()
        monitors.append(monitor)
        counts.append(Namespace.openFileCount())
      }
      _ = try ReachabilityMonitor().evaluate(.default)
      counts.append(Namespace.openFileCount())
      for monitor in monitors { monitor.stop() }
      counts.append(Namespace.openFileCount())
      return counts
    }
    #expect(Set(counts[1...11]).count == 1, "\(counts)")
    #expect(counts[1] > counts[0] && counts.last == counts[0], "\(counts)")
  }

  @Test("Each of several monitors reports its own targets and every change")
  func changes() throws {
    let pair = try VethPair()
    try pair.addDefaultRoutes()
    let monitors = (0..<3).map { _ in ReachabilityMonitor() }
    let targets = try ["192.0.2.1", "2001:db8::1", "127.0.0.1"].map { try ReachabilityTarget(host: $0) }
    let subscriptions = zip(monitors, targets).map { monitor, target in
      monitor.listen(watching: [target], on: .immediate) { _ in }
    }
    for monitor in monitors { try pair.client.run { () throws(KernelError) in try monitor.start() } }
    #expect(monitors.allSatisfy { $0.snapshot.status.isReachable })
    try pair.client.ip(batch: ["route del default", "route del ::/0"])
    #expect(eventually { monitors.allSatisfy { $0.snapshot.status == .notReachable } })
    #expect(
      eventually {
        zip(monitors, targets).map { $0.verdict(of: $1)?.path.status.isReachable } == [false, false, true]
      })
    monitors[0].stop()
    try pair.addDefaultRoutes()
    #expect(eventually { monitors.dropFirst().allSatisfy { $0.snapshot.status.isReachable } })
    #expect(monitors[0].snapshot.status == .unknown)
    withExtendedLifetime(subscriptions) {}
  }

  @Test("A listener on the source's thread may start another monitor")
  func startedInListener() throws {
    let pair = try VethPair()
    try pair.addDefaultRoutes()
    let (first, second) = (ReachabilityMonitor(), ReachabilityMonitor())
    let target = try ReachabilityTarget(host: "192.0.2.1")
    let watch = second.listen(watching: [target], on: .immediate) { _ in }
    let subscription = first.listen(to: .status, on: .immediate) { update in
      if update.status == .notReachable { try? second.start() }
    }
    try pair.client.run { () throws(KernelError) in try first.start() }
    try pair.client.ip(batch: ["route del default", "route del ::/0"])
    #expect(eventually { second.snapshot.status == .notReachable })
    #expect(eventually { second.verdict(of: target)?.path.status == .notReachable })
    try pair.addDefaultRoutes()
    #expect(eventually { second.verdict(of: target)?.path.status.isReachable == true })
    withExtendedLifetime((subscription, watch)) {}
  }

  @Test("A monitor with a logger has a source of its own, whose failures it logs")
  func logger() throws {
    let namespace = try Namespace()
    try namespace.unshareDescriptors()
    let counts = try namespace.run { () throws(KernelError) -> [Int] in
      let monitors = (0..<2).map { _ in
        ReachabilityMonitor(configuration: .init(logger: Logger(label: "test") { _ in QuietHandler() }))
      }
      var counts = [Namespace.openFileCount()]
      for monitor in monitors {
        try monitor.start()
        counts.append(Namespace.openFileCount())
      }
      for monitor in monitors { monitor.stop() }
      return counts
    }
    #expect(counts[2] - counts[1] == counts[1] - counts[0], "\(counts)")
  }
}

/// A log handler that is not the default one.
private struct QuietHandler: LogHandler {
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.critical
  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }
  func log(event: LogEvent) {}
}
