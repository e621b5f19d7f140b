internal import Events
internal import History
internal import JSONFormat
internal import NetworkReachability

/// The JSON documents of the history.
///
/// This is a public format: members may be added, not changed or removed.
enum HistoryRepresentation {
  static func entry(_ entry: HistoryEntry) -> JSON {
    let transition = entry.transition
    let id = entry.sequence == 0 ? nil : EventID(epoch: entry.epoch, sequence: entry.sequence).description
    return .members([
      "id": .text(id),
      "time": time(entry.time),
      "type": .string(transition.type.name),
      "subject": .string(entry.subject),
      "from": .text(transition.old == .none ? nil : transition.old.name),
      "to": .string(transition.new.name),
      "reason": .text(transition.reason?.reason?.rawValue),
      "cause": .list(transition.causes.causes.map(\.rawValue)),
      "flapping": .bool(transition.flags.contains(.flapping)),
      "clean": transition.new == .serviceStopped ? .bool(!transition.flags.contains(.unclean)) : .null,
    ])
  }

  static func uptime(_ summary: UptimeSummary) -> [JSON.Member] {
    [
      .init(name: "availability", value: summary.availability.map { .number($0) } ?? .null),
      .init(name: "coverage", value: .number(summary.coverage)),
      .init(
        name: "seconds",
        value: .object(
          [UptimeState.up, .down, .unreachable, .unknown, .paused, .unmonitored].map {
            .init(name: "\($0)", value: seconds(summary[$0]))
          })),
      .init(name: "outages", value: .integer(Int64(summary.outages))),
      .init(name: "endedOutages", value: .integer(Int64(summary.endedOutages))),
      .init(name: "meanTimeToRepairSeconds", value: seconds(summary.meanTimeToRepair)),
      .init(name: "meanTimeBetweenFailuresSeconds", value: seconds(summary.meanTimeBetweenFailures)),
    ]
  }

  /// Encodes one step of latencies.
  ///
  /// - Parameters:
  ///   - step: the start in milliseconds, and the latencies.
  ///   - shares: the quantiles as text and number.
  /// - Returns: the document.
  static func latency(_ step: (start: Int64, rollup: LatencyRollup), _ shares: [(text: String, share: Double)]) -> JSON
  {
    let rollup = step.rollup
    let quantiles = shares.map { share in
      JSON.Member(name: share.text, value: seconds(rollup.quantile(share.share).map(Int64.init)))
    }
    return .members([
      "start": time(step.start * 1_000),
      "checks": .integer(Int64(clamping: rollup.count)),
      "failed": .integer(Int64(clamping: rollup.failed)),
      "minSeconds": seconds(rollup.minimum.map(Int64.init)),
      "meanSeconds": rollup.mean.map { .number($0.rounded() / 1_000_000) } ?? .null,
      "maxSeconds": seconds(rollup.maximum.map(Int64.init)),
      "quantiles": .object(quantiles),
    ])
  }

  /// Returns a time in microseconds.
  static func time(_ microseconds: Int64) -> JSON { .string(Timestamp(microseconds: microseconds).description) }

  private static func seconds(_ microseconds: Int64?) -> JSON {
    microseconds.map { .number(Double($0) / 1_000_000) } ?? .null
  }
}
