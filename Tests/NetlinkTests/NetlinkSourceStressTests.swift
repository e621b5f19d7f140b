import Glibc
import ReachabilityModel
import TestSupport
import Testing

@testable import Netlink

/// Races with the kernel, and floods.
@Suite(.enabled(if: Namespace.isSupported), .serialized) struct NetlinkSourceStressTests {
  static let trials = 300

  /// A source whose client speaks IPv4 only: IPv6 route events would lead to later readings and hide a stale one.
  func runningWithoutIPv6() throws -> RunningSource {
    let running = try RunningSource()
    try running.client.sysctl("net.ipv6.conf.all.disable_ipv6", 1)
    #expect(running.becomes(ipv4: true, ipv6: false))
    return running
  }

  @Test func linkDownIsNeverMissed() throws {
    let running = try runningWithoutIPv6()
    for trial in 0..<Self.trials {
      try running.client.ip("link set c0 down")
      try #require(running.becomes(ipv4: false), "trial \(trial)")
      try running.client.ip(batch: ["link set c0 up", "route add default via 10.9.0.1 dev c0"])
      try #require(running.becomes(ipv4: true), "trial \(trial)")
    }
  }

  @Test func removalOfTheLastAddressIsNeverMissed() throws {
    let running = try runningWithoutIPv6()
    for trial in 0..<Self.trials {
      try running.client.ip("addr del 10.9.0.2/24 dev c0")
      try #require(running.becomes(ipv4: false), "trial \(trial)")
      try running.client.ip(batch: ["addr add 10.9.0.2/24 dev c0", "route add default via 10.9.0.1 dev c0"])
      try #require(running.becomes(ipv4: true), "trial \(trial)")
    }
  }

  @Test func lostEventsLeadToAResync() throws {
    var settings = NetlinkSource.Settings()
    settings.receiveBufferBytes = 4096
    let running = try RunningSource(settings: settings) { _ in
      pause(.milliseconds(5), because: "the small buffer overflows while the observer is slow")
      return nil
    }
    let blocks = (0..<2000).map { "10.\(100 + $0 / 256).\($0 % 256).0/24" }
    running.observer.removeAll()
    try running.client.ip(
      batch: blocks.map { "route add \($0) via 10.9.0.1" } + blocks.map { "route del \($0) via 10.9.0.1" }
        + ["route del default via 10.9.0.1 dev c0 metric 100", "link set c0 mtu 1400"])
    #expect(running.becomes(ipv4: false, ipv6: true))
    #expect(eventually { running.observer.last?.tables.interface(named: "c0")?.mtu == 1400 })
    #expect(eventually { running.observer.causes.contains(.resync) })
    let counters = running.source.counters
    #expect(counters.overruns > 0 && counters.resyncs > 0 && counters.failures == 0)
    #expect(running.observer.errors.isEmpty)
  }

  @Test func eventFloodDoesNotDelayReadings() throws {
    let running = try RunningSource()
    let blocks = (0..<20000).map { "10.\(100 + $0 / 256).\($0 % 256).0/24" }
    let flood = try running.client.spawn(
      "/sbin/ip", ["-batch", "-"], input: blocks.map { "route add \($0) via 10.9.0.1\n" }.joined())
    let before = running.source.counters.readings
    #expect(eventually { running.source.counters.readings > before + 5 || flood.poll() != nil })
    #expect(try flood.wait() == .exited(0))
    try running.client.ip("route del default via 10.9.0.1 dev c0 metric 100")
    #expect(running.becomes(ipv4: false))
    // The kernel's answers may be ahead of its events, which are counted as they are read.
    #expect(eventually { running.source.counters.events >= 20001 || running.source.counters.overruns > 0 })
  }
}
