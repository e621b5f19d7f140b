internal import Locks
internal import ReachabilityModel

/// Starts a source, takes its first reading for some targets, and stops it: verdicts without a running monitor.
final class OneReading: KernelObserver {
  private let questions: [TargetQuestion]
  private let requirement: InterfaceRequirement
  private let reading = Locked<KernelReading?>(nil)

  private init(_ questions: [TargetQuestion], _ requirement: InterfaceRequirement) {
    self.questions = questions
    self.requirement = requirement
  }

  /// A verdict for each question, in their order.
  static func take(
    from source: any KernelSource, _ questions: [TargetQuestion], permitting requirement: InterfaceRequirement
  ) throws(KernelError) -> [HostVerdict] {
    let observer = OneReading(questions, requirement)
    try source.start(observer)
    defer { source.stop(for: observer) }
    guard let reading = observer.reading.withLock(\.self) else {
      throw KernelError(operation: "first reading", errno: 0, message: "the source started without one")
    }
    let tables = TunnelRules.applied(to: reading.tables, reading.answers)
    return questions.map {
      TargetRules.verdict(
        for: $0.target, resolution: $0.resolution, permitting: requirement, answers: reading.answers, in: tables)
    }
  }

  func routeQueries(for survey: KernelSurvey) -> [RouteQuery] {
    TunnelRules.queries(in: survey.tables)
      + questions.flatMap {
        TargetRules.queries(for: $0.target, resolution: $0.resolution, permitting: requirement, in: survey.tables)
      }
  }

  func ingest(_ reading: KernelReading) -> Duration? {
    self.reading.withLock { $0 = $0 ?? reading }
    return nil
  }

  func kernelFailed(_ error: KernelError, at time: Timestamp) {}
}
