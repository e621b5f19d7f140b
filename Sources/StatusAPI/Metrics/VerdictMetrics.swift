internal import NetworkReachability

extension MetricCollector {
  /// Returns the metrics of the network: the verdict by family and the watched hosts.
  static func verdict(_ monitor: ReachabilityMonitor, _ feed: ServiceEvents) -> MetricCollector {
    MetricCollector { page in
      let snapshot = feed.snapshot
      let paths = [("ipv4", snapshot.machine.ipv4), ("ipv6", snapshot.machine.ipv6)]
      page.add(
        "reachd_reachable", .gauge, "Whether a packet can leave this machine by its default path, by family.",
        paths.map { .init($0.1.status.isReachable ? 1 : 0, ["family": $0.0]) })
      page.add(
        "reachd_path_info", .gauge, "Always 1; the labels contain the default path of each family.",
        paths.map { family, path in
          .init(
            1,
            [
              "family": family, "status": path.status.name, "reason": path.reason?.rawValue ?? "",
              "interface": path.interface?.name ?? "", "type": path.interface?.type.rawValue ?? "",
            ])
        })
      page.add("reachd_interfaces", .gauge, "Network interfaces of this machine.", snapshot.interfaces.count)
      let (verdicts, watched) = monitor.watchedVerdicts(limit: MetricExposition.sampleLimitPerFamily)
      page.add("reachd_watched_hosts", .gauge, "Hosts that are watched now.", watched)
      page.add(
        "reachd_host_reachable", .gauge, "Whether a packet can leave for a watched host.",
        verdicts.map { .init($0.path.status.isReachable ? 1 : 0, labels(of: $0.target)) })
    }
  }

  private static func labels(of target: ReachabilityTarget) -> KeyValuePairs<String, String> {
    [
      "host": target.host, "source": target.source?.description ?? "", "interface": target.interface ?? "",
      "protocol": target.transport?.name ?? "",
      "port": target.transport.flatMap { $0.port > 0 ? String($0.port) : nil } ?? "",
    ]
  }

  static func kernel(_ monitor: ReachabilityMonitor) -> MetricCollector {
    MetricCollector { page in
      guard let counters = monitor.kernelCounters else { return }
      let families: [(String, String, UInt64)] = [
        ("events", "Events received from the kernel.", counters.events),
        ("readings", "Readings of the kernel's tables.", counters.readings),
        ("failures", "Readings of the kernel's tables that failed.", counters.failures),
        ("overruns", "Times that the kernel discarded events because the receive buffer was full.", counters.overruns),
        ("resyncs", "Complete readings after a loss of events.", counters.resyncs),
        ("barriers", "Waits for the kernel to complete announced changes.", counters.barriers),
        ("audits", "Comparisons of the service's state with the kernel's tables.", counters.audits),
        ("audit_differences", "Differences found by audits that no event had announced.", counters.auditDifferences),
      ]
      for (name, help, value) in families { page.add("reachd_netlink_\(name)_total", .counter, help, value) }
      page.add(
        "reachd_netlink_reaction_seconds", .summary,
        "Time from the first event of a reading until its verdicts were published.",
        suffixed: [
          ("_sum", .init(seconds(counters.reactionTime))), ("_count", .init(Double(counters.reactions))),
        ])
      if let silence = monitor.timeSinceProgress {
        page.add(
          "reachd_netlink_idle_seconds", .gauge, "Time since the last progress of the netlink thread.",
          [.init(seconds(silence))])
      }
    }
  }
}
