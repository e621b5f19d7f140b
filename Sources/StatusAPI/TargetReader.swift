internal import JSONTree
internal import NetworkReachability

/// From a body to a target's definition, or to what is wrong with each of its fields.
enum TargetReader {
  /// Fields of the document that a client may send back as it got them; they say nothing.
  private static let readOnly: Set<String> = [
    "state", "reason", "since", "pending", "flapping", "consecutiveFailures", "origin", "lastCheck",
  ]
  private static let times: [(TargetDraft.Field, any WritableKeyPath<TargetDraft, Duration?> & Sendable)] = [
    (.interval, \.interval), (.timeout, \.timeout), (.fastInterval, \.fastInterval),
  ]

  /// All that is wrong with a body.
  struct Faults: Error {
    var errors: [FieldError]
  }

  /// Reads one target.
  ///
  /// - Parameters:
  ///   - node: the object.
  ///   - pointer: where it stands in the body.
  ///   - id: what the path calls it; the body may leave it out then.
  ///   - modules: the modules that may be named besides the built-in ones.
  /// - Returns: a valid definition.
  /// - Throws: everything that is wrong.
  static func definition(
    _ node: JSONNode, at pointer: String, id: String? = nil, modules: [ProbeModule]
  ) throws(Faults) -> TargetDefinition {
    guard let members = node.members else {
      throw Faults(errors: [FieldError(pointer: pointer, detail: "expected an object, found \(node.kind)")])
    }
    var draft = TargetDraft()
    var errors: [FieldError] = []
    for member in members where !readOnly.contains(member.name) {
      let place = pointer + FieldError.part(member.name)
      if let problem = take(member, into: &draft, &errors, place) {
        errors.append(FieldError(pointer: place, detail: problem))
      }
    }
    for (field, _) in times where node[field.rawValue] != nil && node[field.rawValue + "Seconds"] != nil {
      let place = pointer + FieldError.part(field.rawValue + "Seconds")
      errors.append(FieldError(pointer: place, detail: "\(field.rawValue) is given twice; leave one out"))
    }
    if let id {
      if let other = draft.id, other != id {
        errors.append(
          FieldError(pointer: pointer + "/id", detail: "the path says \(id); leave the id out, or write that"))
      }
      draft.id = id
    }
    do throws(TargetDraft.Faults) {
      let definition = try draft.definition(modules: modules)
      if errors.isEmpty { return definition }
    } catch {
      errors += error.faults.map { fault in
        let label = fault.label.map(FieldError.part) ?? ""
        return FieldError(pointer: "\(pointer)/\(fault.field.rawValue)\(label)", detail: fault.description)
      }
      // A field of the wrong kind was left out of the draft: that it is missing is no second fault.
      var seen: Set<String> = []
      errors.removeAll { !seen.insert($0.pointer).inserted }
    }
    throw Faults(errors: errors)
  }

  /// Puts a member into the draft; returns what is wrong with it.
  private static func take(
    _ member: JSONNode.Member, into draft: inout TargetDraft, _ errors: inout [FieldError], _ place: String
  ) -> String? {
    let value = member.value
    for (field, key) in times {
      if member.name == field.rawValue {
        guard let duration = value.string.flatMap({ DurationText.parse($0) }) else {
          return "expected a duration such as 500ms or 30s, found \(shown(value))"
        }
        draft[keyPath: key] = duration
        return nil
      }
      if member.name == field.rawValue + "Seconds" {
        guard let seconds = value.seconds else {
          return "expected a number of seconds from 0 to 31536000, found \(shown(value))"
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
      guard case .integer(let number) = value else { return "expected a whole number, found \(shown(value))" }
      if member.name == "fall" { draft.fall = Int(clamping: number) } else { draft.rise = Int(clamping: number) }
      return nil
    case "paused":
      guard case .bool(let isPaused) = value else { return "expected true or false, found \(shown(value))" }
      draft.isPaused = isPaused
      return nil
    case "labels": return takeLabels(value, into: &draft, &errors, place)
    default: return unknown(member.name)
    }
    return value.string == nil ? "expected a string, found \(shown(value))" : nil
  }

  private static func takeLabels(
    _ value: JSONNode, into draft: inout TargetDraft, _ errors: inout [FieldError], _ place: String
  ) -> String? {
    guard let labels = value.members else { return "expected an object of strings, found \(shown(value))" }
    for label in labels {
      guard let text = label.value.string else {
        errors.append(
          FieldError(
            pointer: place + FieldError.part(label.name), detail: "expected a string, found \(shown(label.value))"))
        continue
      }
      draft.labels[label.name] = text
    }
    return nil
  }

  private static func unknown(_ name: String) -> String {
    let known = TargetDraft.Field.allCases.map(\.rawValue).joined(separator: ", ")
    return "there is no such field; there are \(known)"
  }

  private static func shown(_ value: JSONNode) -> String {
    switch value {
    case .integer(let number): return "the number \(number)"
    case .number(let number): return "the number \(number)"
    default: break
    }
    guard let text = value.string else { return value.kind }
    return text.count > 80 ? String(text.prefix(80)).debugDescription + "…" : text.debugDescription
  }
}

extension JSONNode {
  /// A number of seconds as a duration; nil for anything else, and for more than a year.
  fileprivate var seconds: Duration? {
    switch self {
    case .integer(let seconds) where (0...31_536_000).contains(seconds): .seconds(seconds)
    case .number(let seconds) where (0...31_536_000).contains(seconds): .seconds(seconds)
    default: nil
    }
  }
}
