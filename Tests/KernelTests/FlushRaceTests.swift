import NetworkReachability
import TestSupport
import Testing

/// The kernel tells that a link or an address went before it flushes the IPv4 routes with it, and says nothing of those.
///
/// Who asks again at once may be told the old routes, and would stay wrong for ever. `REACHD_RACE_TRIALS` sets how often
/// it is tried.
@Suite(.needsNamespaces) struct FlushRaceTests {
  static let trials = ProcessEnvironment.number("REACHD_RACE_TRIALS") ?? 300

  /// What is taken away, and what brings it back, but for the routes.
  static let losses = [
    ("link set c0 down", "link set c0 up"), ("addr del 10.9.0.2/24 dev c0", "addr add 10.9.0.2/24 dev c0"),
  ]

  @Test(arguments: losses) func verdictIsCorrectInEveryTrial(_ loss: String, _ restoration: String) throws {
    try race(loss, restoration, trials: Self.trials)
  }

  /// The kernel flushes route by route, the oldest last: many younger ones keep the old default route in sight for so
  /// long that a reader that does not wait for the end receives it.
  @Test(arguments: losses) func verdictIsCorrectDuringLongFlushes(
    _ loss: String, _ restoration: String
  ) throws {
    // Routes that differ in their metric share nothing in the kernel.
    let younger = (1...3000).map { "route add 198.18.\($0 / 250).\($0 % 250) via 10.9.0.1 dev c0 metric \($0)" }
    try race(loss, restoration, younger, trials: Self.trials / 10)
  }

  private func race(_ loss: String, _ restoration: String, _ younger: [String] = [], trials: Int) throws {
    let routes = ["route add default via 10.9.0.1 dev c0"] + younger
    let pair = try VethPair()
    // IPv6 would send events after the flush, and each of them would correct a wrong verdict.
    try pair.client.sysctl("net.ipv6.conf.c0.disable_ipv6", 1)
    try pair.client.ip(batch: routes)
    let monitor = ReachabilityMonitor(configuration: .init(settle: .zero))
    try pair.client.run { () throws(KernelError) in try monitor.start() }
    defer { monitor.stop() }
    #expect(monitor.snapshot.status == .reachable(.ethernetOrWiFi))
    var wrong = 0
    for trial in 1...trials {
      try pair.client.ip(loss)
      if !eventually(within: .seconds(10), { monitor.snapshot.machine.reason == .noRoute }) { wrong += 1 }
      try pair.client.ip(batch: [restoration] + routes)
      try #require(eventually { monitor.snapshot.status.isReachable }, "not restored in trial \(trial)")
      // Waiting for hundreds of deadlines would show nothing more.
      guard wrong < 3 else { break }
    }
    #expect(wrong == 0, "of \(trials) trials")
  }
}
