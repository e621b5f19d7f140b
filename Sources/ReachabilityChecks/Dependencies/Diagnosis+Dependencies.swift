internal import Locks
public import ReachabilityModel

extension CheckSchedule {
  /// The failing targets from the first failing parent of a target to the root of its outage; empty while its dependencies work, or
  /// when it is not registered.
  public func failingDependencies(of id: String) -> [TargetReport] {
    guarded.withLock { guarded in
      let (tracker, entries) = (guarded.state.dependencies, guarded.state.entries)
      return tracker.graph.chain(of: id) { parent, _ in tracker.state(of: parent, in: entries) }
        .compactMap { entries[$0]?.report }
    }
  }
}

extension Diagnosis {
  /// Adds the step for the targets that a registered target depends on, before its own; nothing is added without dependencies.
  ///
  /// - Parameters:
  ///   - chain: the failing targets, from the first parent to the root of the outage.
  ///   - report: the registered target.
  public mutating func addDependencies(_ chain: [TargetReport], of report: TargetReport) {
    guard !report.definition.dependsOn.isEmpty else { return }
    let own: Set<Step> = [.icmp, .tcp, .tls, .answer]
    let index = steps.firstIndex { own.contains($0.step) } ?? steps.endIndex
    let isCause = report.status.reason == .dependencyDown
    let text = chain.map { parent in
      let reason = parent.status.reason.map { " (\($0.rawValue))" } ?? ""
      return "\(parent.definition.id) is \(parent.status.isPending ? "failing" : parent.status.state.rawValue)\(reason)"
    }.joined(separator: ", because ")
    guard let root = chain.last?.definition.id, isCause else {
      let evidence = chain.isEmpty ? "all of them work" : "\(text); this target has failed before"
      steps.insert(
        StepResult(step: .dependency, verdict: chain.isEmpty ? .pass : .notReached, evidence: evidence), at: index)
      return
    }
    steps.insert(
      StepResult(
        step: .dependency, verdict: .fail, evidence: text, advice: "reachd targets explain \(root)"), at: index)
  }
}
