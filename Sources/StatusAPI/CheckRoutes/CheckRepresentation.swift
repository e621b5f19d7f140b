package import JSONFormat
package import ReachabilityChecks

/// The JSON document of a check.
///
/// This is a public format: members may be added, not changed or removed.
package enum CheckRepresentation {
  /// Returns the document for outcomes of the same target; the first one that is not up determines the state.
  package static func document(_ outcomes: [CheckOutcome], text: String? = nil) -> JSON {
    guard let leading = outcomes.first(where: { $0.result.state != .up }) ?? outcomes.first else { return .null }
    var members = head(leading, text)
    if outcomes.count > 1 {
      members.append(.init(name: "results", value: .array(outcomes.map { .object(head($0, text)) })))
    }
    return .object(members)
  }

  /// Returns one line for users and shell scripts: `up tcp://db:5432 10.0.0.9 0.412 ms`.
  package static func line(_ outcome: CheckOutcome) -> String {
    let result = outcome.result
    var words = [result.state.rawValue, outcome.request.target.redacted]
    if let reason = result.reason { words.append(reason.rawValue) }
    if let address = result.address { words.append(address.description) }
    words += [result.duration.inMilliseconds, "ms"]
    return (words.joined(separator: " ") + (result.detail.map { ": \($0)" } ?? remark(outcome))).withoutControls
  }

  /// Returns what a protocol adds, or what a successful route check does not prove.
  private static func remark(_ outcome: CheckOutcome) -> String {
    if outcome.request.target.scheme == .route { return " (no packet sent)" }
    return outcome.result.evidence.all.lazy.compactMap(\.remark).first ?? ""
  }

  private static func head(_ outcome: CheckOutcome, _ text: String?) -> [JSON.Member] {
    let result = outcome.result
    var members: [JSON.Member] = []
    func add(_ name: String, _ value: JSON) { members.append(.init(name: name, value: value)) }
    add("target", .string(text ?? outcome.request.target.redacted))
    add("module", .string(outcome.request.module.name))
    add("state", .string(result.state.rawValue))
    add("reason", .text(result.reason?.rawValue))
    add("detail", .text(result.detail))
    add("address", .text(result.address?.description))
    add("durationSeconds", seconds(result.duration))
    add("phases", phases(result.phases))
    add("route", HostRepresentation.route(outcome.path))
    add("vantage", vantage(outcome))
    members += evidence(result.evidence)
    if !result.evidence.attempts.isEmpty { add("attempts", .array(result.evidence.attempts.map(attempt))) }
    add("checkedAt", .string(result.startedAt.description))
    return members
  }

  private static func vantage(_ outcome: CheckOutcome) -> JSON {
    let source = outcome.result.source ?? outcome.path?.source
    return .members([
      "interface": .text(outcome.path?.interface?.name ?? outcome.request.interface),
      "source": .text(source?.description),
    ])
  }

  private static func evidence(_ evidence: CheckResult.Evidence) -> [JSON.Member] {
    evidence.all.map { part in
      let members = part.members.map { JSON.Member(name: $0.key, value: JSON($0.value)) }
      return JSON.Member(name: type(of: part).name, value: .object(members))
    }
  }

  /// Returns the document for one of several addresses.
  private static func attempt(_ attempt: CheckResult.Attempt) -> JSON {
    var members: [JSON.Member] = []
    func add(_ name: String, _ value: JSON) { members.append(.init(name: name, value: value)) }
    add("address", .string(attempt.address.description))
    add("state", .string(attempt.state.rawValue))
    add("reason", .text(attempt.reason?.rawValue))
    add("detail", .text(attempt.detail))
    add("startedAfterSeconds", seconds(attempt.startedAfter))
    add("durationSeconds", seconds(attempt.duration))
    if !attempt.phases.isEmpty { add("phases", phases(attempt.phases)) }
    return .object(members + evidence(attempt.evidence))
  }

  private static func phases(_ phases: [CheckResult.Phase]) -> JSON {
    .object(phases.map { .init(name: $0.name.rawValue, value: seconds($0.duration)) })
  }

  private static func seconds(_ duration: Duration) -> JSON { .number(duration / .seconds(1)) }
}

extension JSON {
  fileprivate init(_ value: EvidenceValue) {
    switch value {
    case .text(let text): self = .text(text)
    case .integer(let number): self = .integer(Int64(number))
    case .number(let number): self = number.map(JSON.number) ?? .null
    case .texts(let texts): self = .list(texts)
    }
  }
}
