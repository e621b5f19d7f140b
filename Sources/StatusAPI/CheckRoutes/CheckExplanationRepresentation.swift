package import JSONFormat
package import ReachabilityChecks

/// The JSON document and the text of a diagnosis.
///
/// The JSON is a public format: members may be added, not changed or removed.
package enum CheckExplanationRepresentation {
  /// Returns the document of `GET /explain`.
  package static func document(_ explanation: Diagnosis, text: String) -> JSON {
    let result = explanation.outcome.result
    return .members([
      "target": .string(text),
      "state": .string(result.state.rawValue),
      "reason": .text(result.reason?.rawValue),
      "detail": .text(result.detail),
      "answer": explanation.failure.map(step) ?? .null,
      "steps": .array(explanation.steps.map(step)),
      "checkedAt": .string(result.startedAt.description),
    ])
  }

  private static func step(_ step: Diagnosis.StepResult) -> JSON {
    .members([
      "step": .string(step.step.rawValue), "verdict": .string(step.verdict.rawValue),
      "evidence": step.evidence.isEmpty ? .null : .string(step.evidence), "advice": .text(step.advice),
    ])
  }

  package static func text(_ explanation: Diagnosis) -> String {
    let result = explanation.outcome.result
    let reason = result.reason.map { ": \($0.rawValue)" } ?? ""
    // A failed step shows the detail as its evidence; without a failed step it is shown here.
    let detail = explanation.failure == nil ? result.detail.map { ", \($0.withoutControls)" } ?? "" : ""
    var text = "\(explanation.outcome.request.target.redacted) is \(result.state.rawValue)\(reason)\(detail)\n"
    for step in explanation.steps {
      let mark =
        switch step.verdict {
        case .pass: "ok  "
        case .fail: "FAIL"
        case .notReached: "-   "
        }
      let name = step.step.rawValue
      let gap = String(repeating: " ", count: max(1, 9 - name.utf8.count))
      text += "  \(mark) \(name)" + (step.evidence.isEmpty ? "" : gap + step.evidence.withoutControls) + "\n"
      if let advice = step.advice { text += "       try      \(advice.withoutControls)\n" }
    }
    return text
  }
}
