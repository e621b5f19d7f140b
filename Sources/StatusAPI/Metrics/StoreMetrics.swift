internal import History

extension MetricCollector {
  /// Returns the metrics of a store and of the samples for it; it reads memory only.
  static func store(_ history: HistoryKeeper) -> MetricCollector {
    let store = history.store
    return MetricCollector { page in
      let (statistics, load, state) = (store.statistics, store.load, store.state)
      page.add(
        "reachd_store_state", .gauge, "Whether events are committed before they are published.",
        ["keeping", "detached", "closed"].map { .init($0 == state.name ? 1 : 0, ["state": $0]) })
      page.add("reachd_store_commit_seconds", "Duration of transactions.", statistics.commits)
      page.add("reachd_store_sync_seconds", "Duration of synchronizations of the log.", statistics.syncs)
      page.add("reachd_store_lag_events", .gauge, "Events that wait for their commit.", load.events)
      page.add("reachd_store_waiting_bytes", .gauge, "Bytes of these events.", load.bytes)
      page.add(
        "reachd_store_unkept_events_total", .counter, "Events published but not stored, for lack of memory.",
        load.unkept)
      page.add(
        "reachd_store_dropped_samples_total", .counter, "Durations of checks that are not stored, for lack of memory.",
        history.recorder.dropped)
      page.add("reachd_store_detached_total", .counter, "Changes to the state detached.", statistics.detachments)
      page.add(
        "reachd_store_failures_total", .counter, "Failed operations of the disk.",
        [
          .init(Double(statistics.commitFailures), ["operation": "commit"]),
          .init(Double(statistics.syncFailures), ["operation": "sync"]),
        ])
      page.add("reachd_store_bytes", .gauge, "Size of the database with its log.", store.bytes)
      page.add(
        "reachd_store_set_aside", .gauge, "Databases that were set aside and not acknowledged.",
        store.setAsideNotices.count)
    }
  }
}

extension MetricExposition {
  fileprivate mutating func add(_ name: String, _ help: String, _ durations: StoreStatistics.Durations) {
    var samples: [(suffix: String, sample: Sample)] = []
    var count: UInt64 = 0
    for (bound, number) in zip(StoreStatistics.Durations.bounds, durations.counts) {
      count += number
      samples.append(("_bucket", Sample(Double(count), ["le": "\(bound)"])))
    }
    count += durations.counts.last ?? 0
    samples.append(("_bucket", Sample(Double(count), ["le": "+Inf"])))
    samples.append(("_sum", Sample(durations.sum)))
    samples.append(("_count", Sample(Double(count))))
    add(name, .histogram, help, suffixed: samples)
  }
}

extension StoreState {
  fileprivate var name: String {
    switch self {
    case .keeping: "keeping"
    case .detached: "detached"
    case .closed: "closed"
    }
  }
}

extension HealthCheck {
  /// A warning while events are published without being committed, and until an operator has acknowledged that a database
  /// was set aside.
  static func store(_ store: HistoryStore) -> HealthCheck {
    HealthCheck("store", isWarning: true) {
      var warnings: [String] = []
      if case .detached(let reason, _) = store.state {
        warnings.append("events are published without being committed: \(reason)")
      }
      let notices = store.setAsideNotices
      if let last = notices.last {
        let others = notices.count > 1 ? " (and \(notices.count - 1) before it)" : ""
        warnings.append(
          "a database was set aside\(others): \(last); "
            + "reachd store acknowledge --data \(store.configuration.directory) ends this warning")
      }
      return warnings.isEmpty ? nil : warnings.joined(separator: "; ")
    }
  }
}
