internal import HTTPRouting
internal import JSONFormat
internal import ReachabilityChecks

/// Decodes a request body into a gate's definition, or into the errors of its fields.
enum GateDecoder {
  /// Read-only fields of the document, which a client may send back; they are ignored.
  private static let readOnlyFields: Set<String> = [
    "state", "reason", "since", "opensAt", "members", "missing", "origin",
  ]

  /// Decodes a gate.
  ///
  /// - Parameters:
  ///   - node: the JSON object.
  ///   - id: the id in the path.
  /// - Returns: a valid definition.
  /// - Throws: all errors.
  static func definition(_ node: JSON, id: String) throws(TargetDecoder.InvalidFields) -> GateDefinition {
    guard let members = node.members else {
      throw TargetDecoder.InvalidFields(errors: [
        FieldError(pointer: "", detail: "expected an object, got \(node.kind)")
      ])
    }
    var spec = GateSpec(id: id)
    var errors: [FieldError] = []
    var unreadable: Set<GateSpec.Field> = []
    for member in members where !readOnlyFields.contains(member.name) {
      guard let problem = decode(member, into: &spec, id) else { continue }
      errors.append(FieldError(pointer: FieldError.pointerSegment(member.name), detail: problem))
      if let field = GateSpec.Field(rawValue: member.name) { unreadable.insert(field) }
    }
    do throws(GateSpec.Faults) {
      let definition = try spec.definition(except: unreadable)
      if errors.isEmpty { return definition }
    } catch {
      // That the gate requires nothing may follow from an unknown field.
      errors += error.faults.filter { errors.isEmpty || $0.field != nil }.map {
        FieldError(pointer: $0.field.map { "/\($0.rawValue)" } ?? "", detail: $0.description)
      }
    }
    throw TargetDecoder.InvalidFields(errors: errors)
  }

  /// Decodes a member; returns a description of its error.
  private static func decode(_ member: JSON.Member, into spec: inout GateSpec, _ id: String) -> String? {
    let value = member.value
    guard let field = GateSpec.Field(rawValue: member.name) else {
      if member.name == "id" { return value.string == id ? nil : "the id differs from \(id) in the path; omit it" }
      let known = GateSpec.Field.allCases.map(\.rawValue).joined(separator: ", ")
      return "unknown field; expected one of \(known)"
    }
    switch field {
    case .machine: return decodeMachine(value, into: &spec)
    case .targets:
      guard let elements = value.elements else { return "expected an array of ids of targets, got \(value.kind)" }
      if let other = elements.first(where: { $0.string == nil }) {
        return "expected an array of ids of targets, got an array with \(other.kind)"
      }
      spec.targets = elements.compactMap(\.string)
    case .select:
      guard let labels = value.members else { return "expected an object of strings, got \(value.kind)" }
      for label in labels {
        guard let text = label.value.string else {
          return "the label \(label.name.prefix(80).debugDescription) must be a string, got \(label.value.kind)"
        }
        spec.selection[label.name] = text
      }
    case .clients:
      guard case .bool(let includesClients) = value else { return "expected true or false, got \(value.kind)" }
      spec.includesClients = includesClients
    case .atLeast:
      if case .integer(let count) = value { spec.atLeast = String(count) } else { spec.atLeast = value.string }
      guard spec.atLeast != nil || value == .null else { return "expected a string or a number, got \(value.kind)" }
    case .openAfter:
      guard let duration = value.string.flatMap({ DurationFormat.parse($0) }) else {
        return "expected a duration such as 500ms or 30s, got \(value.kind)"
      }
      spec.openAfter = duration
    case .paused:
      guard let text = value.string else { return "expected close or ignore, got \(value.kind)" }
      spec.paused = text
    }
    return nil
  }

  private static func decodeMachine(_ value: JSON, into spec: inout GateSpec) -> String? {
    if value == .null { return nil }
    if let text = value.string {
      spec.machine = text
      return nil
    }
    guard let members = value.members, members.count == 1, let type = value["connectionType"]?.string else {
      return "expected \"reachable\", or an object with connectionType"
    }
    spec.connectionType = type
    return nil
  }
}
