internal import ReachabilityChecks

/// What an explanation looks like on the wire and on a terminal.
///
/// Additive changes only.
enum ExplanationRepresentation {
  /// The document of `GET /explain`.
  static func document(_ explanation: Diagnosis, text: String) -> JSON {
    let result = explanation.outcome.result
    return .members([
      "target": .string(text),
      "state": .string(result.state.rawValue),
      "reason": .text(result.reason?.rawValue),
      "detail": .text(result.detail),
      "answer": explanation.failure.map(step) ?? .null,
      "ladder": .array(explanation.steps.map(step)),
      "checkedAt": .string(result.startedAt.description),
    ])
  }

  private static func step(_ step: Diagnosis.StepResult) -> JSON {
    .members([
      "rung": .string(step.step.rawValue), "verdict": .string(step.verdict.rawValue),
      "evidence": step.evidence.isEmpty ? .null : .string(step.evidence), "advice": .text(step.advice),
    ])
  }

  /// The ladder as lines.
  static func text(_ explanation: Diagnosis) -> String {
    let result = explanation.outcome.result
    let reason = result.reason.map { ": \($0.rawValue)" } ?? ""
    // A rung that fails shows the words; where none does, they have no other place.
    let detail = explanation.failure == nil ? result.detail.map { ", \($0)" } ?? "" : ""
    var text = "\(explanation.outcome.request.target.redacted) is \(result.state.rawValue)\(reason)\(detail)\n"
    for step in explanation.steps {
      let mark =
        switch step.verdict {
        case .pass: "ok  "
        case .fail: "FAIL"
        case .notReached: "-   "
        }
      let name = step.step.rawValue
      let padded = name + String(repeating: " ", count: max(0, 8 - name.utf8.count))
      text += "  \(mark) \(padded) \(step.evidence)".trimmed + "\n"
      if let advice = step.advice { text += "       try      \(advice)\n" }
    }
    return text
  }
}

extension String {
  /// Without the spaces at its end.
  fileprivate var trimmed: Substring { self[..<(lastIndex { $0 != " " }.map { index(after: $0) } ?? startIndex)] }
}
