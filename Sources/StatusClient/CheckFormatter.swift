internal import JSONFormat
public import ReachabilityChecks
internal import StatusAPI

/// Checks as text, without HTTP, in the formats of `/check` and `/explain`.
public enum CheckFormatter {
  /// Returns one line: `up tcp://db:5432 10.0.0.9 0.412 ms`.
  public static func line(_ outcome: CheckOutcome) -> String { CheckRepresentation.line(outcome) }

  /// Returns the document of `GET /check` for outcomes of the same target, on one line.
  public static func json(_ outcomes: [CheckOutcome]) -> String {
    String(decoding: CheckRepresentation.document(outcomes).bytes, as: UTF8.self)
  }

  /// Returns the diagnosis of `GET /explain`, one line per step, without the last line end.
  public static func diagnosis(_ explanation: Diagnosis) -> String {
    String(CheckExplanationRepresentation.text(explanation).dropLast())
  }

  /// Returns the document of `GET /explain`, on one line.
  public static func json(_ explanation: Diagnosis) -> String {
    let text = explanation.outcome.request.target.redacted
    return String(decoding: CheckExplanationRepresentation.document(explanation, text: text).bytes, as: UTF8.self)
  }
}
