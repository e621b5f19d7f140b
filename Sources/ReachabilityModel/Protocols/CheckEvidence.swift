/// The results of one protocol, as a check reports them.
package protocol CheckEvidence: Sendable {
  /// The member of a check's document that contains them.
  static var name: String { get }
  /// What this member contains: a public format, of which nothing may be changed or removed.
  var members: KeyValuePairs<String, EvidenceValue> { get }
  /// What a diagnosis reports about the step.
  var summary: String { get }
  /// What follows in the line of a check that is up; nil for nothing.
  var remark: String? { get }
}

extension CheckEvidence {
  package var remark: String? { nil }
}

/// A value of evidence, from which JSON is made.
package enum EvidenceValue: Sendable {
  case text(String?)
  case integer(Int)
  case number(Double?)
  case texts([String])

  static func seconds(_ duration: Duration?) -> EvidenceValue { .number(duration.map { $0 / .seconds(1) }) }
}
