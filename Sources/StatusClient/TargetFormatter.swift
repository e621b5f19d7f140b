public import JSONFormat
internal import Events
internal import StatusAPI
public import ReachabilityModel

/// Registered targets as text: `down db tcp://10.9.0.1:5432 refused since 2026-01-01T00:00:00.000000Z`.
public enum TargetFormatter {
  /// Returns the state and the line of a target in a page of `GET /targets`; nil for an invalid document.
  public static func line(_ document: JSON) -> (state: TargetState, line: String)? {
    guard let state = document["state"]?.string.flatMap(TargetState.init), let id = document["id"]?.string,
      let target = document["target"]?.string, let since = document["since"]?.string
    else { return nil }
    let line = TargetRepresentation.line(
      state: state.rawValue, id: id, target: target, reason: document["reason"]?.string,
      dependency: document["dependency"]?.string, isPending: document["pending"] == .bool(true),
      isFlapping: document["flapping"] == .bool(true), since: since)
    return (state, line)
  }

  /// Returns a target in a page of `GET /targets` as an element of the section `targets` of a configuration file; nil
  /// for an invalid document.
  ///
  /// JSON strings are valid in YAML; a `$` is doubled, because it begins a variable in the file.
  public static func configuration(_ document: JSON) -> String? {
    guard let id = document["id"]?.string, let target = document["target"]?.string,
      let module = document["module"]?.string
    else { return nil }
    func quoted(_ text: String) -> String {
      String(decoding: JSON.string(text.replacing("$", with: "$$")).bytes, as: UTF8.self)
    }
    var fields = ["id: \(quoted(id))", "target: \(quoted(target))", "module: \(quoted(module))"]
    for name in ["interval", "timeout", "fastInterval"] {
      guard let seconds = document[name + "Seconds"]?.double else { continue }
      // Another service may send any number; no setting is longer than a year.
      let duration = Duration.microseconds(Int64((min(max(0, seconds), 31_536_000) * 1e6).rounded()))
      fields.append("\(name): \(quoted(DurationFormat.shortest(duration)))")
    }
    for name in ["fall", "rise"] {
      if case .integer(let count)? = document[name] { fields.append("\(name): \(count)") }
    }
    if document["paused"] == .bool(true) { fields.append("paused: true") }
    let parents = (document["dependsOn"]?.elements ?? []).map { entry in
      guard let parents = entry["anyOf"]?.elements else { return quoted(entry.string ?? "") }
      return "{ anyOf: [\(parents.map { quoted($0.string ?? "") }.joined(separator: ", "))] }"
    }
    if !parents.isEmpty { fields.append("dependsOn: [\(parents.joined(separator: ", "))]") }
    let labels = (document["labels"]?.members ?? []).map { "\(quoted($0.name)): \(quoted($0.value.string ?? ""))" }
    if !labels.isEmpty { fields.append("labels: { \(labels.joined(separator: ", ")) }") }
    return "{ \(fields.joined(separator: ", ")) }"
  }

  /// Returns the body of `PUT /targets/{id}` for a specification; omitted fields keep the service's defaults.
  public static func body(_ spec: TargetSpec) -> String {
    var members: [JSON.Member] = [.init(name: "target", value: .text(spec.target))]
    if let module = spec.module { members.append(.init(name: "module", value: .string(module))) }
    for (name, duration) in [
      ("interval", spec.interval), ("timeout", spec.timeout), ("fastInterval", spec.fastInterval),
    ] {
      if let duration { members.append(.init(name: name, value: .string(DurationFormat.shortest(duration)))) }
    }
    for (name, count) in [("fall", spec.fall), ("rise", spec.rise)] {
      if let count { members.append(.init(name: name, value: .integer(Int64(count)))) }
    }
    members.append(.init(name: "paused", value: .bool(spec.isPaused)))
    let labels = spec.labels.sorted { $0.key < $1.key }
    members.append(.init(name: "labels", value: .object(labels.map { .init(name: $0.key, value: .string($0.value)) })))
    if !spec.dependsOn.isEmpty {
      members.append(.init(name: "dependsOn", value: TargetSummary.dependsOn(spec.dependsOn)))
    }
    return String(decoding: JSON.object(members).bytes, as: UTF8.self)
  }
}

extension JSON {
  /// The value of a number; nil for other values.
  fileprivate var double: Double? {
    switch self {
    case .integer(let number): Double(number)
    case .number(let number): number
    default: nil
    }
  }
}
