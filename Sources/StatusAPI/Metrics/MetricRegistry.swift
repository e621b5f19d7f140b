internal import Locks
internal import NetworkReachability

/// All sources of series: the one place where they come together.
///
/// A part that has something to tell brings a ``MetricCollector``; see docs/ARCHITECTURE.md, "Add a metric".
final class MetricRegistry: Sendable {
  private let sources: Locked<[MetricCollector]>

  init(_ sources: [MetricCollector]) { self.sources = Locked(sources) }

  func add(_ source: MetricCollector) { sources.withLock { $0.append(source) } }

  /// A scrape.
  var exposition: [UInt8] {
    var page = MetricExposition()
    for source in sources.withLock(\.self) { source.write(&page) }
    page.add(
      "reachd_metrics_omitted_series", .gauge, "Series left out of this scrape because their family has too many.",
      page.omitted)
    return page.bytes
  }
}

extension MetricCollector {
  /// A bare number as `process_…` and `reachd_…` families want it.
  static func seconds(_ duration: Duration) -> Double {
    Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
  }
}
