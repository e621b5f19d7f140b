internal import ReachabilityModel

/// The observer of one source, from its start until the monitor stops or starts another: later readings are ignored.
final class KernelSourceGeneration: KernelObserver {
  private let number: Int
  private let engine: Engine

  init(number: Int, engine: Engine) {
    self.number = number
    self.engine = engine
  }

  func routeQueries(for survey: KernelSurvey) -> [RouteQuery] {
    engine.withState(in: number) { $0.routeQueries(for: survey) } ?? []
  }

  func needsRouteBlocks(for survey: KernelSurvey) -> Bool {
    engine.withState(in: number) { $0.needsRouteBlocks(isAfterLoss: survey.isAfterLoss) } ?? false
  }

  func differences(in audit: KernelReading) -> Int {
    engine.withState(in: number) { $0.differences(in: audit) } ?? 0
  }

  func ingest(_ reading: KernelReading) -> Duration? { engine.ingest(reading, in: number) }

  func kernelFailed(_ error: KernelError, at time: Timestamp) { engine.kernelFailed(at: time, in: number) }
}
