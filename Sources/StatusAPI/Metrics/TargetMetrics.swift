internal import ReachabilityChecks

/// A label of registered targets that is also a label of `reachd_target_up`.
public struct MetricLabel: Hashable, Sendable {
  /// The longest list of labels: each multiplies the size of ten thousand series.
  public static let limit = 16

  let label: String
  /// The name in Prometheus, where `_` replaces the other characters.
  let name: String

  /// Creates a label; nil for a name that Prometheus does not accept, or that the series already has.
  init?(_ label: String) {
    name = String(label.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
    self.label = label
    guard let first = name.first, !first.isNumber, !name.hasPrefix("__"), name != "id", label.utf8.count <= 63 else {
      return nil
    }
  }

  /// Creates the labels of a list; nil if one is invalid, two are equal in Prometheus, or there are too many.
  public static func list(_ labels: [String]) -> [MetricLabel]? {
    let all = labels.compactMap(MetricLabel.init)
    guard all.count == labels.count, all.count <= limit, Set(all.map(\.name)).count == all.count else { return nil }
    return all
  }
}

extension MetricCollector {
  /// Returns the metrics of single targets: of the first ones by id, up to the limit of series of a family.
  static func targets(_ schedule: CheckSchedule, labels: @escaping @Sendable () -> [MetricLabel]) -> MetricCollector {
    MetricCollector { page in
      let reports = firstReports(schedule)
      let labels = labels()
      page.add(
        "reachd_target_up", .gauge, "Whether a registered target is up, 1 or 0; paused targets are omitted.",
        reports.lazy.filter { $0.status.state != .paused }.map { report in
          var sample = MetricExposition.Sample(report.status.state == .up ? 1 : 0, ["id": report.definition.id])
          // A label that is empty is the same as one that is missing.
          sample.labels += labels.compactMap { label in
            report.definition.labels[label.label].map { (name: label.name, value: $0) }
          }
          return sample
        })
      page.add(
        "reachd_target_info", .gauge, "Always 1; the labels contain the state of a registered target, and its reason.",
        reports.lazy.map { report in
          .init(
            1,
            [
              "id": report.definition.id, "state": report.status.state.rawValue,
              "reason": report.status.reason?.rawValue ?? "",
            ])
        })
      page.add(
        "reachd_target_last_duration_seconds", .gauge, "Duration of the last check of a registered target.",
        reports.lazy.compactMap { report in
          report.status.lastResult.map { .init(seconds($0.duration), ["id": report.definition.id]) }
        })
      page.add(
        "reachd_target_certificate_expiry_timestamp_seconds", .gauge,
        "Earliest expiry on the certification path that the last check of a registered target verified, in seconds since 1970.",
        expiries(reports) { $0.expiry ?? $0.earliestExpiry })
      page.add(
        "reachd_target_presented_certificate_expiry_timestamp_seconds", .gauge,
        "Earliest expiry of all certificates that the last check of a registered target received, in seconds since 1970.",
        expiries(reports, \.earliestExpiry))
      page.add(
        "reachd_targets_omitted", .gauge, "Registered targets without series of their own, because there are too many.",
        max(0, schedule.count - reports.count))
    }
  }

  private static func expiries(
    _ reports: [TargetReport], _ expiry: (CheckResult.TLS) -> Timestamp?
  ) -> [MetricExposition.Sample] {
    reports.compactMap { report in
      report.status.lastResult?.evidence.tls.flatMap(expiry).map {
        .init(Double($0.microseconds / 1_000_000), ["id": report.definition.id])
      }
    }
  }

  /// Returns the first reports in parts, because checks wait for the schedule's lock.
  private static func firstReports(_ schedule: CheckSchedule) -> [TargetReport] {
    var reports: [TargetReport] = []
    while reports.count < MetricExposition.sampleLimitPerFamily {
      let limit = min(reportsPerLock, MetricExposition.sampleLimitPerFamily - reports.count)
      let part = schedule.reports(after: reports.last?.definition.id, limit: limit)
      reports += part
      if part.count < limit { break }
    }
    return reports
  }

  /// Reports that are copied under one lock: half a millisecond.
  private static let reportsPerLock = 500
}
