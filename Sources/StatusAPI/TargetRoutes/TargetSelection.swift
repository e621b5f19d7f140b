internal import HTTPRouting
internal import ReachabilityChecks

/// The targets that a query selects with `state` and `label`.
struct TargetSelection: Hashable {
  private let states: Set<TargetState>
  private let labels: Set<TargetLabelSelector>

  init(_ context: RequestContext) throws(Problem) {
    states = try context.routed.values("state") ?? []
    labels = try TargetLabelSelector.parse(context.query["label"])
  }

  func isSelected(_ report: TargetReport) -> Bool {
    isSelected(report.status.state) && labels.allSatisfy { $0.matches(report.definition) }
  }

  func isSelected(_ state: TargetState) -> Bool { states.isEmpty || states.contains(state) }
}
