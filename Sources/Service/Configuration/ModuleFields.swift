internal import EmbeddedHTTPServer
internal import NetworkReachability
internal import YAMLTree

/// The fields of a module in YAML, from which its prober's options read their values.
struct ModuleFields: CheckOptionFields {
  let path: String
  var reader: ConfigurationSectionReader
  var nodes: [String: YAMLNode] = [:]

  mutating func value<Value>(_ key: String, _ format: FieldFormat<Value>) -> Value? {
    nodes[key].flatMap { reader.value($0, "\(path).\(key)", format) }
  }

  mutating func pattern(_ key: String) -> String? { nodes[key].flatMap { reader.pattern($0, "\(path).\(key)") } }

  mutating func list<Value>(_ key: String, _ example: String, of format: FieldFormat<Value>) -> [Value]? {
    guard let node = nodes[key] else { return nil }
    let path = "\(path).\(key)"
    return reader.elements(node, path, example).compactMap { reader.value($0, path, format) }
  }

  /// Their names are tokens (RFC 9110 §5.6.2); a line break in a value to send would end the field.
  mutating func headers(_ key: String, arePatterns: Bool) -> [(name: String, value: String)]? {
    guard let node = nodes[key] else { return nil }
    let path = "\(path).\(key)"
    let sent = FieldFormat("a text without control characters") { text in
      text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 } ? text : nil
    }
    return reader.members(node, path).compactMap { member in
      let location = "\(path).\(member.name)"
      guard HTTPHeaders.isFieldName(member.name) else {
        let shown = member.name.prefix(80).debugDescription
        reader.addError(member.key, path, "\(shown) is not a field name", "such as X-Api-Key")
        return nil
      }
      let value =
        arePatterns ? reader.pattern(member.value, location) : reader.value(member.value, location, sent)
      return value.map { (member.name, $0) }
    }
  }

  mutating func require(_ other: String, for key: String) {
    guard let node = nodes[key], nodes[other] == nil else { return }
    reader.addError(node, "\(path).\(key)", "\(key) requires \(other)", "give both")
  }
}
