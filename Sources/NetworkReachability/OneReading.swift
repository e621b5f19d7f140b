internal import Locks
internal import ReachabilityModel

/// Starts a source, takes its first reading for one target, and stops it: a verdict without a running monitor.
final class OneReading: KernelObserver {
  private let target: Target
  private let resolution: NameResolution
  private let requirement: InterfaceRequirement
  private let reading = Locked<KernelReading?>(nil)

  private init(_ target: Target, _ resolution: NameResolution, _ requirement: InterfaceRequirement) {
    self.target = target
    self.resolution = resolution
    self.requirement = requirement
  }

  static func take(
    from source: any KernelSource, _ target: Target, _ resolution: NameResolution,
    permitting requirement: InterfaceRequirement
  ) throws(KernelError) -> HostVerdict {
    let observer = OneReading(target, resolution, requirement)
    try source.start(observer)
    defer { source.stop(for: observer) }
    guard let reading = observer.reading.withLock(\.self) else {
      throw KernelError(operation: "first reading", errno: 0, message: "the source started without one")
    }
    let tables = TunnelRules.applied(to: reading.tables, reading.answers)
    return TargetRules.verdict(
      for: target, resolution: resolution, permitting: requirement, answers: reading.answers, in: tables)
  }

  func routeQueries(for survey: KernelSurvey) -> [RouteQuery] {
    TunnelRules.queries(in: survey.tables)
      + TargetRules.queries(for: target, resolution: resolution, permitting: requirement, in: survey.tables)
  }

  func ingest(_ reading: KernelReading) -> Duration? {
    self.reading.withLock { $0 = $0 ?? reading }
    return nil
  }

  func kernelFailed(_ error: KernelError, at time: Timestamp) {}
}
