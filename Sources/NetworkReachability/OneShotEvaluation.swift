internal import Locks
internal import ReachabilityModel

/// Verdicts without a running monitor: starts a source, takes its first reading for some targets, and stops it.
final class OneShotEvaluation: KernelObserver {
  private let requests: [OnDemandEvaluationRequest]
  private let requirement: InterfaceRequirement
  private let reading = Locked<KernelReading?>(nil)

  private init(_ requests: [OnDemandEvaluationRequest], _ requirement: InterfaceRequirement) {
    self.requests = requests
    self.requirement = requirement
  }

  /// A verdict for each request, in their order.
  static func verdicts(
    for requests: [OnDemandEvaluationRequest], from source: any KernelSource,
    permitting requirement: InterfaceRequirement
  ) throws(KernelError) -> [HostVerdict] {
    let observer = OneShotEvaluation(requests, requirement)
    try source.start(observer)
    defer { source.stop(for: observer) }
    guard let reading = observer.reading.withLock(\.self) else {
      throw KernelError(operation: "first reading", errno: 0, message: "the source started without a reading")
    }
    let tables = TunnelRules.applied(to: reading.tables, reading.answers)
    return requests.map {
      TargetRules.verdict(
        for: $0.target, resolution: $0.resolution, permitting: requirement, answers: reading.answers, in: tables)
    }
  }

  func routeQueries(for survey: KernelSurvey) -> [RouteQuery] {
    TunnelRules.queries(in: survey.tables)
      + requests.flatMap {
        TargetRules.queries(for: $0.target, resolution: $0.resolution, permitting: requirement, in: survey.tables)
      }
  }

  func ingest(_ reading: KernelReading) -> Duration? {
    self.reading.withLock { $0 = $0 ?? reading }
    return nil
  }

  func kernelFailed(_ error: KernelError, at time: Timestamp) {}
}
