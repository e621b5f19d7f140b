public import ReachabilityChecks

/// Checks as text, outside HTTP: what `/check` and `/explain` would answer.
public enum CheckFormatter {
  /// One line: `up tcp://db:5432 10.0.0.9 0.412 ms`.
  public static func line(_ outcome: CheckOutcome) -> String { CheckRepresentation.line(outcome) }

  /// The document of `GET /check` over outcomes of the same target, on one line.
  public static func json(_ outcomes: [CheckOutcome]) -> String {
    String(decoding: CheckRepresentation.document(outcomes).bytes, as: UTF8.self)
  }

  /// The ladder of `GET /explain`, a line a rung, without the last line's end.
  public static func ladder(_ explanation: Diagnosis) -> String {
    String(ExplanationRepresentation.text(explanation).dropLast())
  }

  /// The document of `GET /explain`, on one line.
  public static func json(_ explanation: Diagnosis) -> String {
    let text = explanation.outcome.request.target.redacted
    return String(decoding: ExplanationRepresentation.document(explanation, text: text).bytes, as: UTF8.self)
  }
}
