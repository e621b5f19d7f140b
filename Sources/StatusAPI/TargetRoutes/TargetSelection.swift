internal import HTTPRouting
internal import ReachabilityChecks

/// The targets that a query selects with `state` and `label`.
struct TargetSelection: Hashable {
  private let states: Set<TargetState>
  private let labels: Set<TargetLabelSelector>

  init(_ context: RequestContext) throws(Problem) {
    states = try Self.states(context.query["state"])
    labels = try TargetLabelSelector.parse(context.query["label"])
  }

  func isSelected(_ report: TargetReport) -> Bool {
    isSelected(report.status.state) && labels.allSatisfy { $0.matches(report.definition) }
  }

  func isSelected(_ state: TargetState) -> Bool { states.isEmpty || states.contains(state) }

  private static func states(_ text: String?) throws(Problem) -> Set<TargetState> {
    guard let text else { return [] }
    var states: Set<TargetState> = []
    for word in ListParameter.words(text) {
      guard let state = TargetState(rawValue: String(word)) else {
        let known = TargetState.allCases.map(\.rawValue).joined(separator: ", ")
        throw Problem(
          .badRequest, "unknown state \(String(word.prefix(80)).debugDescription); expected one of \(known)")
      }
      states.insert(state)
    }
    return states
  }
}
