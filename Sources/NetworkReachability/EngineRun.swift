internal import ReachabilityModel

/// What one source observes, from a start to the stop: readings that come after it, or from a source before, are dropped.
final class EngineRun: KernelObserver {
  /// The engine hears the latest run only.
  private let number: Int
  private let engine: Engine

  init(number: Int, engine: Engine) {
    self.number = number
    self.engine = engine
  }

  func routeQueries(for survey: KernelSurvey) -> [RouteQuery] { engine.routeQueries(for: survey, in: number) }

  func needsRouteBlocks(isAfterLoss: Bool) -> Bool { engine.needsRouteBlocks(isAfterLoss: isAfterLoss) }

  func differences(in audit: KernelReading) -> Int { engine.differences(in: audit, number) }

  func ingest(_ reading: KernelReading) -> Duration? { engine.ingest(reading, in: number) }

  func kernelFailed(_ error: KernelError, at time: Timestamp) { engine.kernelFailed(at: time, in: number) }
}
