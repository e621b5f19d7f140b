import Glibc
import NetworkReachability
import TestSupport
import Testing

/// The kernel tells that a link or an address went before it flushes the IPv4 routes with it, and says nothing of those.
///
/// Who asks again at once may be told the old routes, and would stay wrong for ever. `REACHD_RACE_TRIALS` sets how often
/// it is tried.
@Suite(.needsNamespaces) struct FlushRaceTests {
  static let trials = unsafe getenv("REACHD_RACE_TRIALS").flatMap { unsafe Int(String(cString: $0)) } ?? 300

  @Test func theVerdictIsRightEveryTimeThatALinkGoesDown() throws {
    try race("link set c0 down", restoredBy: ["link set c0 up", "route add default via 10.9.0.1 dev c0"])
  }

  @Test func theVerdictIsRightEveryTimeThatTheLastAddressGoes() throws {
    try race(
      "addr del 10.9.0.2/24 dev c0",
      restoredBy: ["addr add 10.9.0.2/24 dev c0", "route add default via 10.9.0.1 dev c0"])
  }

  private func race(_ loss: String, restoredBy restoration: [String]) throws {
    let pair = try VethPair()
    // IPv6 would send events after the flush, and each of them would mend a wrong verdict.
    try pair.client.sysctl("net.ipv6.conf.c0.disable_ipv6", 1)
    try pair.client.ip("route add default via 10.9.0.1 dev c0")
    let monitor = ReachabilityMonitor(configuration: .init(settle: .zero))
    try pair.client.run { () throws(KernelError) in try monitor.start() }
    defer { monitor.stop() }
    #expect(monitor.snapshot.status == .reachable(.ethernetOrWiFi))
    var wrong = 0
    for trial in 1...Self.trials {
      try pair.client.ip(loss)
      if !eventually(within: .seconds(10), { monitor.snapshot.machine.reason == .noRoute }) { wrong += 1 }
      try pair.client.ip(batch: restoration)
      try #require(eventually { monitor.snapshot.status.isReachable }, "not restored in trial \(trial)")
      // Nobody learns more from waiting for hundreds of deadlines.
      guard wrong < 3 else { break }
    }
    #expect(wrong == 0, "of \(Self.trials) trials")
  }
}
