internal import NetworkReachability
internal import Probers
internal import StatusAPI
internal import YAMLTree
internal import TextSyntax

/// Reads the values of a section that is not a flat list of settings, and collects the errors.
struct ConfigurationSectionReader {
  /// The file's name, for error messages.
  var name: String
  var environment: [String: String]
  var errors: [ConfigurationError] = []

  /// `reachd.yaml:3:8`.
  func location(_ node: YAMLNode) -> String { "\(name):\(node.position.line):\(node.position.column)" }

  mutating func addError(_ node: YAMLNode, _ path: String, _ problem: String, _ hint: String) {
    errors.append(ConfigurationError(location: location(node), path: path, problem: problem, hint: hint))
  }

  /// Returns the members of a mapping; those that `known` does not list are reported and left out.
  mutating func members(_ node: YAMLNode, _ path: String, known: [String]) -> [YAMLNode.Entry] {
    members(node, path).filter { member in
      if known.contains(member.name) { return true }
      let hint =
        EditDistance.suggestion(for: member.name, among: known) ?? "there are \(known.joined(separator: ", "))"
      addError(member.key, "\(path).\(ConfigurationError.truncated(member.name))", "unknown key", hint)
      return false
    }
  }

  /// Returns the members of a mapping with arbitrary names.
  mutating func members(_ node: YAMLNode, _ path: String) -> [YAMLNode.Entry] {
    if let members = node.entries { return members }
    addError(node, path, "a mapping is expected here", "write key: value")
    return []
  }

  mutating func elements(_ node: YAMLNode, _ path: String, _ form: String) -> [YAMLNode] {
    if let elements = node.elements { return elements }
    addError(node, path, "a list is expected here", "write \(form)")
    return []
  }

  mutating func text(_ node: YAMLNode, _ path: String, _ expectation: String = "a text") -> String? {
    value(node, path, expectation) { $0 }
  }

  /// Returns a text that `parse` converts.
  mutating func value<Value>(
    _ node: YAMLNode, _ path: String, _ expectation: String, _ parse: (String) -> Value?
  ) -> Value? {
    guard let raw = node.scalar, !node.isNull else {
      addError(node, path, "not a text value", "expected \(expectation)")
      return nil
    }
    switch VariableSubstitution.expand(raw, in: environment) {
    case .failure(let problem):
      addError(node, path, problem.text, "set it, or write $$ for a $")
      return nil
    case .success(let text):
      if let value = parse(text) { return value }
      // As written, so that the values of variables stay secret.
      addError(node, path, "\(ConfigurationError.quoted(raw)) is invalid", "expected \(expectation)")
      return nil
    }
  }

  mutating func value<Value>(_ node: YAMLNode, _ path: String, _ format: FieldFormat<Value>) -> Value? {
    value(node, path, format.expectation, format.parse)
  }

  mutating func pattern(_ node: YAMLNode, _ path: String) -> String? {
    guard let text = text(node, path, "a regular expression") else { return nil }
    guard let diagnostic = ProberPatternSyntax.diagnostic(text) else { return text }
    let raw = node.scalar ?? ""
    addError(
      node, path, raw == text ? diagnostic : "\(ConfigurationError.quoted(raw)) is not a regular expression",
      "in single quotes a backslash needs no escape")
    return nil
  }

  /// Returns a mapping of names to texts.
  mutating func texts(_ node: YAMLNode, _ path: String) -> [(name: String, value: String)] {
    members(node, path).compactMap { member in
      text(member.value, "\(path).\(member.name)").map { (member.name, $0) }
    }
  }
}

extension YAMLNode {
  /// Whether a node is an unquoted `null`, `~` or empty.
  var isNull: Bool {
    guard case .scalar(let text, isPlain: true, _) = value else { return false }
    return ["", "~", "null", "Null", "NULL"].contains(text)
  }
}
