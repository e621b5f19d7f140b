internal import ReachabilityChecks

extension MetricCollector {
  static func checks(_ schedule: CheckSchedule) -> MetricCollector {
    MetricCollector { page in
      let statistics = schedule.statistics
      page.add(
        "reachd_targets", .gauge, "Registered targets by state.",
        TargetState.allCases.map { .init(Double(statistics.targets[$0] ?? 0), ["state": $0.rawValue]) })
      writeLimits(schedule.quota.usage, &page)
      page.add("reachd_targets_flapping", .gauge, "Registered targets that are flapping.", statistics.flapping)
      page.add("reachd_checks_running", .gauge, "Checks of registered targets that are running.", statistics.running)
      page.add(
        "reachd_checks_waiting", .gauge, "Checks that are due and wait for the concurrency limit.",
        statistics.waiting
      )
      page.add(
        "reachd_dependency_checks_total", .counter, "Checks of targets on behalf of others that depend on them.",
        statistics.dependencyChecks)
      page.add(
        "reachd_dependency_timeouts_total", .counter,
        "Waits of targets for a result of a parent that took too long.",
        statistics.dependencyTimeouts)
      page.add(
        "reachd_check_overlaps_total", .counter, "Checks skipped because the previous one was still running.",
        statistics.overlaps)
      page.add(
        "reachd_check_repeats_total", .counter,
        "Checks repeated because the process was suspended or the route had changed.", statistics.retries)
      page.add(
        "reachd_check_lag_seconds", "Delay of checks after their scheduled time.",
        [(labels: [], histogram: statistics.lag)])
      writeModules(statistics, &page)
    }
  }

  private static func writeLimits(_ usage: ScheduleUsage, _ page: inout MetricExposition) {
    page.add("reachd_targets_limit", .gauge, "Maximum of registered targets, see limits.targets.", usage.limits.targets)
    page.add(
      "reachd_scheduled_checks_per_second", .gauge, "Sum of 1/interval over all registered targets.",
      [.init(usage.checksPerSecond)])
    if let limit = usage.limits.checksPerSecond {
      page.add(
        "reachd_checks_per_second_limit", .gauge, "Maximum checks per second, see limits.checksPerSecond.", limit)
    }
    page.add(
      "reachd_targets_memory_bytes", .gauge, "Memory accounted to registered targets, in bytes.", usage.memory)
    if let budget = usage.limits.memory {
      page.add(
        "reachd_targets_memory_limit_bytes", .gauge,
        "Memory that registered targets may use, from the memory limit of the cgroup, in bytes.", budget.targets)
    }
  }

  private static func writeModules(_ statistics: CheckStatistics, _ page: inout MetricExposition) {
    let modules = statistics.modules.sorted { $0.key < $1.key }
    page.add(
      "reachd_checks_total", .counter, "Checks of registered targets by module and state.",
      modules.flatMap { name, module in
        CheckResult.State.allCases.map {
          .init(Double(module.results[$0] ?? 0), ["module": name, "state": $0.rawValue])
        }
      })
    page.add(
      "reachd_check_failures_total", .counter, "Checks that did not find the target up, by module and reason.",
      modules.flatMap { name, module in
        module.reasons.sorted { $0.key.rawValue < $1.key.rawValue }.map {
          .init(Double($0.value), ["module": name, "reason": $0.key.rawValue])
        }
      })
    page.add(
      "reachd_check_duration_seconds", "Duration of checks of registered targets.",
      modules.map { (labels: [("module", $0.key)], histogram: $0.value.durations) })
  }
}

extension MetricExposition {
  mutating func add(
    _ name: String, _ help: String,
    _ series: [(labels: [(name: String, value: String)], histogram: CheckDurationHistogram)]
  ) {
    var samples: [(suffix: String, sample: Sample)] = []
    for (labels, histogram) in series {
      func put(_ suffix: String, _ value: Double, _ more: [(name: String, value: String)] = []) {
        var sample = Sample(value)
        sample.labels = labels + more
        samples.append((suffix, sample))
      }
      for (bound, count) in zip(histogram.bounds, histogram.counts) {
        put("_bucket", Double(count), [("le", "\(MetricCollector.seconds(bound))")])
      }
      put("_bucket", Double(histogram.count), [("le", "+Inf")])
      put("_sum", MetricCollector.seconds(histogram.sum))
      put("_count", Double(histogram.count))
    }
    add(name, .histogram, help, suffixed: samples)
  }
}
