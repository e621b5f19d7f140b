internal import Locks
internal import NetworkReachability

/// Counts transitions and the time in each status.
final class VerdictMetricCounters: TransitionSink {
  private struct Counts {
    var transitions: [Transition.Kinds.RawValue: Int] = [:]
    var status = ReachabilityStatus.unknown
    var timeInStatus: [String: Duration] = [:]
    /// The time of the last update of `timeInStatus`.
    var time: ContinuousClock.Instant
    var since: Timestamp?

    mutating func advance(to now: ContinuousClock.Instant) {
      timeInStatus[status.name, default: .zero] += now - time
      time = now
    }
  }

  private let guarded = Locked(Counts(time: .now))

  private static let kinds: [(name: String, kind: Transition.Kinds)] = [
    ("status", .status), ("path", .path), ("interface", .interface), ("host", .host), ("target", .target),
    ("gate", .gate),
  ]
  private static let statuses: [ReachabilityStatus] = [.reachable(.ethernetOrWiFi), .notReachable, .unknown]

  func take(_ transitions: [Transition], _ snapshot: Snapshot) {
    guarded.withLock { counts in
      for transition in transitions { counts.transitions[transition.kind.rawValue, default: 0] += 1 }
      if counts.status.name != snapshot.status.name { counts.advance(to: .now) }
      counts.status = snapshot.status
      counts.since = snapshot.since
    }
  }

  func write(to page: inout MetricExposition) {
    let counts = guarded.withLock { counts in
      counts.advance(to: .now)
      return counts
    }
    page.add(
      "reachd_status", .gauge, "Whether this is the status of the machine now: 1 for one of them.",
      Self.statuses.map { .init($0.name == counts.status.name ? 1 : 0, ["status": $0.name]) })
    page.add(
      "reachd_status_seconds_total", .counter, "Time of the machine in each status since the start.",
      Self.statuses.map { .init(MetricCollector.seconds(counts.timeInStatus[$0.name] ?? .zero), ["status": $0.name]) })
    if let since = counts.since {
      page.add(
        "reachd_status_since_timestamp_seconds", .gauge, "When the status last changed, in seconds since 1970.",
        [.init(Double(since.microseconds) / 1e6)])
    }
    page.add(
      "reachd_transitions_total", .counter, "Published transitions, by kind as in /events.",
      Self.kinds.map { .init(Double(counts.transitions[$0.kind.rawValue] ?? 0), ["kind": $0.name]) })
  }
}
