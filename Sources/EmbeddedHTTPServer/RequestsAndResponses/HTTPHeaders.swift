/// Header fields in order; names are compared without regard to case (RFC 9110, section 5.1).
public struct HTTPHeaders: Sendable, Equatable, ExpressibleByDictionaryLiteral {
  struct Field: Sendable, Equatable {
    var name: String
    var value: String
  }

  var fields: [Field]

  /// No fields.
  public init() {
    fields = []
  }

  /// The fields as written, in order, repeats included.
  public init(dictionaryLiteral elements: (String, String)...) {
    fields = elements.map { Field(name: $0.0, value: $0.1) }
  }

  /// The number of fields, repeats included.
  public var count: Int { fields.count }

  /// Reads all values of a field joined by `", "` (RFC 9110, section 5.3), or replaces them by one; nil removes.
  public subscript(name: String) -> String? {
    get {
      var joined: String?
      for field in fields where field.name.equalsIgnoringCase(name) {
        joined = joined.map { $0 + ", " + field.value } ?? field.value
      }
      return joined
    }
    set {
      fields.removeAll { $0.name.equalsIgnoringCase(name) }
      if let newValue { fields.append(Field(name: name, value: newValue)) }
    }
  }

  /// Adds one field after the others.
  public mutating func add(_ name: String, _ value: String) {
    fields.append(Field(name: name, value: value))
  }

  /// All values of a field, in order.
  public func values(for name: String) -> [String] {
    fields.compactMap { $0.name.equalsIgnoringCase(name) ? $0.value : nil }
  }

  /// Removes spaces and tabs around the values: optional white space is not part of them (RFC 9110, section 5.5).
  mutating func trimValues() {
    for index in fields.indices {
      let bytes = fields[index].value.utf8
      guard let first = bytes.first, let last = bytes.last, isBlank(first) || isBlank(last) else { continue }
      fields[index].value = String(Substring(bytes.withoutBlanks))
    }
  }
}

extension HTTPHeaders: Sequence {
  /// Iterates over the fields in order.
  public func makeIterator() -> AnyIterator<(name: String, value: String)> {
    var rest = fields.makeIterator()
    return AnyIterator { rest.next().map { ($0.name, $0.value) } }
  }
}

extension String.UTF8View {
  /// The bytes without spaces and tabs at either end.
  var withoutBlanks: Substring.UTF8View {
    let kept = drop(while: isBlank)
    let end = kept.lastIndex { !isBlank($0) }.map { kept.index(after: $0) } ?? kept.startIndex
    return kept[..<end]
  }
}

private func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

extension String {
  /// Compares ASCII letters without regard to case, everything else exactly.
  func equalsIgnoringCase(_ other: String) -> Bool {
    let left = utf8
    let right = other.utf8
    guard left.count == right.count else { return false }
    return zip(left, right).allSatisfy { $0 == $1 || asciiLowercase($0) == asciiLowercase($1) }
  }
}

private func asciiLowercase(_ byte: UInt8) -> UInt8 {
  byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte
}

extension HTTPHeaders {
  /// Whether a text is the name of a field: a token (RFC 9110, section 5.6.2).
  public static func isFieldName(_ text: String) -> Bool { RequestCharacterSet.isToken(text) }
}
