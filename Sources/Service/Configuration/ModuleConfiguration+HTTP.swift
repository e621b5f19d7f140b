internal import EmbeddedHTTPServer
internal import NetworkReachability
internal import YAMLTree

// The fields of an HTTP module that need more than one line.
extension ModuleConfiguration {
  /// Reads header fields; their names are tokens (RFC 9110 §5.6.2).
  static func headers(
    _ node: YAMLNode, _ path: String, _ reader: inout ConfigurationSectionReader,
    _ read: (YAMLNode, String, inout ConfigurationSectionReader) -> String?
  ) -> [HTTPOptions.Field] {
    reader.members(node, path).compactMap { member in
      let location = "\(path).\(member.name)"
      guard HTTPHeaders.isFieldName(member.name) else {
        let shown = member.name.prefix(80).debugDescription
        reader.addError(member.key, path, "\(shown) is not a field name", "such as X-Api-Key")
        return nil
      }
      return read(member.value, location, &reader).map { HTTPOptions.Field(name: member.name, value: $0) }
    }
  }

  /// Validates a field value to send; a line break in it would end the field.
  static func fieldValue(_ node: YAMLNode, _ path: String, _ reader: inout ConfigurationSectionReader) -> String? {
    reader.value(node, path, "a text without control characters") { text in
      text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f || $0 == 0x09 } ? text : nil
    }
  }

  /// Reads status codes and ranges of them: `[200, "300-399"]`.
  static func statuses(
    _ node: YAMLNode, _ path: String, _ reader: inout ConfigurationSectionReader
  ) -> [ClosedRange<Int>] {
    reader.elements(node, path, "[200, \"300-399\"]").compactMap { element in
      reader.value(element, path, "a status code from 100 to 599, or a range such as 300-399") { text in
        let bounds = text.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
        guard (1...2).contains(bounds.count), let first = bounds.first ?? nil, let last = bounds.last ?? nil,
          (100...599).contains(first), (first...599).contains(last)
        else { return nil }
        return first...last
      }
    }
  }
}
