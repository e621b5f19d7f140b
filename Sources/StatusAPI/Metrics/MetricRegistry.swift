internal import Locks

/// All sources of metrics.
///
/// A component with metrics adds a ``MetricCollector``; see docs/ARCHITECTURE.md, "Add a metric".
final class MetricRegistry: Sendable {
  private let sources: Locked<[MetricCollector]>

  init(_ sources: [MetricCollector]) { self.sources = Locked(sources) }

  func add(_ source: MetricCollector) { sources.withLock { $0.append(source) } }

  /// A scrape of all sources.
  var exposition: [UInt8] {
    var page = MetricExposition()
    for source in sources.withLock(\.self) { source.write(&page) }
    page.add(
      "reachd_metrics_omitted_series", .gauge, "Series omitted from this scrape because their family has too many.",
      page.omitted)
    return page.bytes
  }
}

extension MetricCollector {
  /// Returns a duration as a number of seconds, the base unit of `process_…` and `reachd_…` families.
  static func seconds(_ duration: Duration) -> Double {
    Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
  }
}
