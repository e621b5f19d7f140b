internal import NetworkReachability

extension MetricCollector {
  /// What is known of the network: the verdict by family and the watched hosts.
  static func verdict(_ monitor: ReachabilityMonitor, _ feed: EventPublisher) -> MetricCollector {
    MetricCollector { page in
      let snapshot = feed.documents.snapshot
      let paths = [("ipv4", snapshot.machine.ipv4), ("ipv6", snapshot.machine.ipv6)]
      page.add(
        "reachd_reachable", .gauge, "Whether a packet can leave this machine by its default path, by family.",
        paths.map { .init($0.1.status.isReachable ? 1 : 0, ["family": $0.0]) })
      page.add(
        "reachd_path_info", .gauge, "The default path of each family: always 1, what it is stands in the labels.",
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
      page.add("reachd_watched_hosts", .gauge, "Hosts that somebody watches now.", watched)
      page.add(
        "reachd_host_reachable", .gauge, "Whether a packet can leave for a host that somebody watches.",
        verdicts.map { .init($0.path.status.isReachable ? 1 : 0, labels(of: $0.target)) })
    }
  }

  private static func labels(of target: ReachabilityTarget) -> KeyValuePairs<String, String> {
    ["host": target.host, "source": target.source?.description ?? "", "interface": target.interface ?? ""]
  }

  /// How the kernel is read.
  static func kernel(_ monitor: ReachabilityMonitor) -> MetricCollector {
    MetricCollector { page in
      guard let counters = monitor.kernelCounters else { return }
      let families: [(String, String, UInt64)] = [
        ("events", "Events of the kernel that were heard.", counters.events),
        ("readings", "Readings of the kernel's tables.", counters.readings),
        ("failures", "Readings of the kernel's tables that failed.", counters.failures),
        ("overruns", "Times that the kernel threw events away because we were too slow.", counters.overruns),
        ("resyncs", "Readings of everything because events were lost.", counters.resyncs),
        ("barriers", "Waits for the kernel to finish what it had announced.", counters.barriers),
        ("audits", "Comparisons of what we hold with what the kernel has.", counters.audits),
        ("audit_differences", "What audits found that no event had told.", counters.auditDifferences),
      ]
      for (name, help, value) in families { page.add("reachd_netlink_\(name)_total", .counter, help, value) }
      page.add(
        "reachd_netlink_reaction_seconds", .summary,
        "Time from the first event of a reading until its verdicts were told.",
        suffixed: [
          ("_sum", .init(seconds(counters.reactionTime))), ("_count", .init(Double(counters.reactions))),
        ])
      if let silence = monitor.timeSinceProgress {
        page.add(
          "reachd_netlink_idle_seconds", .gauge, "Time since the thread that reads the kernel last moved.",
          [.init(seconds(silence))])
      }
    }
  }
}
