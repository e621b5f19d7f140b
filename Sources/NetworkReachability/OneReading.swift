internal import Locks
internal import ReachabilityModel

/// Starts a source, takes its first reading for one target, and stops it: a verdict without a running monitor.
final class OneReading: KernelObserver {
  private let target: Target
  private let resolution: NameResolution
  private let reading = Locked<KernelReading?>(nil)

  private init(_ target: Target, _ resolution: NameResolution) {
    self.target = target
    self.resolution = resolution
  }

  static func take(
    from source: any KernelSource, _ target: Target, _ resolution: NameResolution
  ) throws(KernelError) -> HostVerdict {
    let observer = OneReading(target, resolution)
    try source.start(observer)
    defer { source.stop() }
    guard let reading = observer.reading.withLock(\.self) else {
      throw KernelError(operation: "first reading", errno: 0, message: "the source started without one")
    }
    return TargetRules.verdict(for: target, resolution: resolution, answers: reading.answers, in: reading.tables)
  }

  func routeQueries(for survey: KernelSurvey) -> [RouteQuery] {
    TargetRules.queries(for: target, resolution: resolution, in: survey.tables)
  }

  func ingest(_ reading: KernelReading) -> Duration? {
    self.reading.withLock { $0 = $0 ?? reading }
    return nil
  }

  func kernelFailed(_ error: KernelError, at time: Timestamp) {}
}
