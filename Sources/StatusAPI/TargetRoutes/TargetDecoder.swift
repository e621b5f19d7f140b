package import HTTPRouting
package import JSONFormat
package import ReachabilityModel

/// Decodes a request body into a target's definition, or into the errors of its fields.
package enum TargetDecoder {
  /// Read-only fields of the document, which a client may send back; they are ignored.
  private static let readOnlyFields: Set<String> = [
    "state", "reason", "since", "pending", "flapping", "consecutiveFailures", "origin", "lastCheck", "dependency",
    "waitingForDependency",
  ]
  private static let durationFields: [(TargetSpec.Field, any WritableKeyPath<TargetSpec, Duration?> & Sendable)] = [
    (.interval, \.interval), (.timeout, \.timeout), (.fastInterval, \.fastInterval),
  ]

  /// All errors of a body.
  package struct InvalidFields: Error {
    package var errors: [FieldError]

    package init(errors: [FieldError]) { self.errors = errors }
  }

  /// Decodes one target.
  ///
  /// - Parameters:
  ///   - node: the JSON object.
  ///   - pointer: the JSON pointer to it in the body.
  ///   - id: the id in the path, if any; the body may omit it then.
  ///   - modules: the modules that may be named besides the built-in ones.
  ///   - alsoKnown: members that the caller reads, for the message about an unknown one.
  /// - Returns: a valid definition.
  /// - Throws: all errors.
  package static func definition(
    _ node: JSON, at pointer: String, id: String? = nil, modules: [CheckModule], alsoKnown: [String] = []
  ) throws(InvalidFields) -> TargetDefinition {
    guard let members = node.members else {
      throw InvalidFields(errors: [FieldError(pointer: pointer, detail: "expected an object, got \(node.kind)")])
    }
    var draft = TargetSpec()
    var errors: [FieldError] = []
    for member in members where !readOnlyFields.contains(member.name) {
      let location = pointer + FieldError.pointerSegment(member.name)
      if let problem = decode(member, into: &draft, &errors, location, alsoKnown) {
        errors.append(FieldError(pointer: location, detail: problem))
      }
    }
    for (field, _) in durationFields where node[field.rawValue] != nil && node[field.rawValue + "Seconds"] != nil {
      let location = pointer + FieldError.pointerSegment(field.rawValue + "Seconds")
      errors.append(
        FieldError(pointer: location, detail: "\(field.rawValue) and \(field.rawValue)Seconds are both given; omit one")
      )
    }
    if let id {
      if let other = draft.id, other != id {
        errors.append(
          FieldError(pointer: pointer + "/id", detail: "the id differs from \(id) in the path; omit it"))
      }
      draft.id = id
    }
    do throws(TargetSpec.Faults) {
      let definition = try draft.definition(modules: modules)
      if errors.isEmpty { return definition }
    } catch {
      errors += error.faults.map { fault in
        let label = fault.label.map(FieldError.pointerSegment) ?? ""
        return FieldError(pointer: "\(pointer)/\(fault.field.rawValue)\(label)", detail: fault.description)
      }
      // A field of the wrong type is missing in the draft; do not report it a second time as missing.
      var seen: Set<String> = []
      errors.removeAll { !seen.insert($0.pointer).inserted }
    }
    throw InvalidFields(errors: errors)
  }

  /// Decodes a member into the draft; returns a description of its error.
  private static func decode(
    _ member: JSON.Member, into draft: inout TargetSpec, _ errors: inout [FieldError], _ location: String,
    _ alsoKnown: [String]
  ) -> String? {
    let value = member.value
    for (field, key) in durationFields {
      if member.name == field.rawValue {
        guard let duration = value.string.flatMap({ DurationFormat.parse($0) }) else {
          return "expected a duration such as 500ms or 30s, got \(describe(value))"
        }
        draft[keyPath: key] = duration
        return nil
      }
      if member.name == field.rawValue + "Seconds" {
        guard let seconds = value.seconds else {
          return "expected a number of seconds from 0 to 31536000, got \(describe(value))"
        }
        draft[keyPath: key] = seconds
        return nil
      }
    }
    switch member.name {
    case "id": draft.id = value.string
    case "target": draft.target = value.string
    case "module":
      if value == .null { return nil }
      draft.module = value.string
    case "fall", "rise":
      guard case .integer(let number) = value else { return "expected an integer, got \(describe(value))" }
      if member.name == "fall" { draft.fall = Int(clamping: number) } else { draft.rise = Int(clamping: number) }
      return nil
    case "paused":
      guard case .bool(let isPaused) = value else { return "expected true or false, got \(describe(value))" }
      draft.isPaused = isPaused
      return nil
    case "labels": return decodeLabels(value, into: &draft, &errors, location)
    case "dependsOn":
      guard let entries = value.elements else { return "expected an array of ids, got \(describe(value))" }
      for (index, entry) in entries.enumerated() {
        if let dependency = dependency(entry) {
          draft.dependsOn.append(dependency)
        } else {
          errors.append(
            FieldError(
              pointer: "\(location)/\(index)", detail: "expected an id or { \"anyOf\": [ids] }, got \(describe(entry))")
          )
        }
      }
      return nil
    default: return unknown(alsoKnown)
    }
    return value.string == nil ? "expected a string, got \(describe(value))" : nil
  }

  /// One entry of `dependsOn`; nil when it is not one.
  package static func dependency(_ entry: JSON) -> TargetDependency? {
    if let parent = entry.string { return TargetDependency(parent) }
    guard entry.members?.count == 1, let parents = entry["anyOf"]?.elements else { return nil }
    let ids = parents.compactMap(\.string)
    return ids.count == parents.count ? TargetDependency(anyOf: ids) : nil
  }

  private static func decodeLabels(
    _ value: JSON, into draft: inout TargetSpec, _ errors: inout [FieldError], _ location: String
  ) -> String? {
    guard let labels = value.members else { return "expected an object of strings, got \(describe(value))" }
    for label in labels {
      guard let text = label.value.string else {
        errors.append(
          FieldError(
            pointer: location + FieldError.pointerSegment(label.name),
            detail: "expected a string, got \(describe(label.value))"))
        continue
      }
      draft.labels[label.name] = text
    }
    return nil
  }

  private static func unknown(_ alsoKnown: [String]) -> String {
    let known = (TargetSpec.Field.allCases.map(\.rawValue) + alsoKnown).joined(separator: ", ")
    return "unknown field; expected one of \(known)"
  }

  private static func describe(_ value: JSON) -> String {
    switch value {
    case .integer(let number): return "the number \(number)"
    case .number(let number): return "the number \(number)"
    default: break
    }
    guard let text = value.string else { return value.kind }
    return text.count > 80 ? String(text.prefix(80)).debugDescription + "…" : text.debugDescription
  }
}

extension JSON {
  /// A number of seconds as a duration; nil for other values and for more than a year.
  fileprivate var seconds: Duration? {
    switch self {
    case .integer(let seconds) where (0...31_536_000).contains(seconds): .seconds(seconds)
    case .number(let seconds) where (0...31_536_000).contains(seconds): .seconds(seconds)
    default: nil
    }
  }
}
