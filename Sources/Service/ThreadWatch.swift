internal import EventLoop
internal import Logging
internal import StatusAPI

/// Reports threads and queues of this process that do not turn: in the log, in `/readyz` and in `/metrics` (ADR 55).
final class ThreadWatch: Sendable {
  private let watcher: LoopWatcher
  private let logger: Logger

  init(_ logger: Logger) {
    self.logger = logger
    watcher = LoopWatcher { event in
      let metadata: Logger.Metadata = ["thread": "\(event.name)", "duration": "\(event.duration)"]
      if event.isOver {
        logger.notice("thread continues", metadata: metadata)
      } else {
        logger.error("thread stalled: one call does not return", metadata: metadata)
      }
    }
  }

  /// Starts to watch; without a thread the service works, but reports no stall.
  func start() {
    do throws(EventLoopError) {
      try watcher.start()
    } catch {
      logger.error("threads are not watched", metadata: ["error": "\(error)"])
    }
  }

  func stop() { watcher.stop() }

  /// A short stall is a warning: the service still answers, and removing it from a load balancer repairs nothing.
  var healthCheck: HealthCheck {
    HealthCheck("threads") { [watcher] in
      let stalled = watcher.reports.filter { $0.stall > .zero }
      guard !stalled.isEmpty else { return .pass }
      let text = "stalled: " + stalled.map { "\($0.name) for \($0.stall.components.seconds) s" }.joined(separator: ", ")
      return stalled.contains { $0.stall >= HealthCheck.stallLimit } ? .fail(text) : .warn(text)
    }
  }

  var metricCollector: MetricCollector {
    MetricCollector { [watcher] page in
      let reports = watcher.reports
      page.add(
        "reachd_thread_stalled_seconds", .gauge,
        "Time for which a thread or queue has not turned; 0 below two seconds.",
        reports.map { .init(Double($0.stall / .milliseconds(1)) / 1_000, ["thread": $0.name]) })
      page.add(
        "reachd_thread_stalls_total", .counter, "Times that a thread or queue did not turn for two seconds.",
        reports.map { .init(Double($0.total), ["thread": $0.name]) })
    }
  }
}
