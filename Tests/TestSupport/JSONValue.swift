/// A JSON value as a test reads it (RFC 8259).
///
/// The reader is strict, so that a sloppy writer is found out: no trailing text, no doubled member, no raw control
/// character.
public enum JSONValue: Hashable, Sendable {
  /// `null`.
  case null
  /// `true` or `false`.
  case bool(Bool)
  /// Any number; whole ones are exact up to 2⁵³.
  case number(Double)
  /// Text.
  case string(String)
  /// A list.
  case array([JSONValue])
  /// Members by name; their order means nothing to a reader.
  case object([String: JSONValue])

  /// Reads one value that is all of the text.
  ///
  /// - Throws: a ``TestError`` that says where it is no JSON.
  public init(_ text: some StringProtocol) throws(TestError) {
    try self.init(bytes: Array(text.utf8))
  }

  /// Reads one value that is all of the bytes.
  ///
  /// - Throws: a ``TestError`` that says where it is no JSON.
  public init(bytes: [UInt8]) throws(TestError) {
    var reader = JSONReader(bytes)
    self = try reader.document()
  }

  /// A member of an object; nil when there is none or this is no object.
  public subscript(_ name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members[name]
  }

  /// An element of a list; nil when there is none or this is no list.
  public subscript(_ index: Int) -> JSONValue? {
    guard let elements, elements.indices.contains(index) else { return nil }
    return elements[index]
  }

  /// The text; nil when this is none.
  public var text: String? {
    guard case .string(let text) = self else { return nil }
    return text
  }

  /// The whole number; nil when this is none.
  public var integer: Int? {
    guard case .number(let number) = self else { return nil }
    return Int(exactly: number)
  }

  /// The elements; nil when this is no list.
  public var elements: [JSONValue]? {
    guard case .array(let elements) = self else { return nil }
    return elements
  }

  /// The texts of a list of texts; empty for everything else.
  public var texts: [String] { elements?.compactMap(\.text) ?? [] }

  /// This object with a member set, or taken out with nil; other values stay as they are.
  public func setting(_ name: String, _ value: JSONValue?) -> JSONValue {
    guard case .object(var members) = self else { return self }
    members[name] = value
    return .object(members)
  }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByArrayLiteral
{
  /// A text.
  public init(stringLiteral value: String) { self = .string(value) }
  /// A truth value.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// A whole number.
  public init(integerLiteral value: Int) { self = .number(Double(value)) }
  /// A list.
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
}

extension JSONValue: CustomStringConvertible {
  /// The value as JSON, members by name: for a failing test to show, not to be read again.
  public var description: String {
    switch self {
    case .null: "null"
    case .bool(let value): "\(value)"
    case .number(let value): Int(exactly: value).map { "\($0)" } ?? "\(value)"
    case .string(let value): value.debugDescription
    case .array(let values): "[" + values.map(\.description).joined(separator: ",") + "]"
    case .object(let members):
      "{" + members.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }.joined(separator: ",") + "}"
    }
  }
}

/// Reads from the front of some bytes.
private struct JSONReader {
  private let bytes: [UInt8]
  private var position = 0
  private var depth = 0
  /// Deeper documents do not occur here, and each level is a call.
  private static let deepest = 64

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  mutating func document() throws(TestError) -> JSONValue {
    let value = try value()
    skipSpace()
    guard position == bytes.count else { throw wrong("text after the end") }
    return value
  }

  private func wrong(_ what: String) -> TestError {
    TestError("JSON, byte \(position): \(what) in \(String(decoding: bytes, as: UTF8.self))")
  }

  private mutating func skipSpace() {
    while position < bytes.count, [0x20, 0x09, 0x0a, 0x0d].contains(bytes[position]) { position += 1 }
  }

  /// Takes these bytes if they come next.
  private mutating func take(_ text: String) -> Bool {
    let wanted = Array(text.utf8)
    guard bytes[position...].starts(with: wanted) else { return false }
    position += wanted.count
    return true
  }

  private mutating func value() throws(TestError) -> JSONValue {
    depth += 1
    defer { depth -= 1 }
    guard depth < Self.deepest else { throw wrong("too deep") }
    skipSpace()
    if take("null") { return .null }
    if take("true") { return .bool(true) }
    if take("false") { return .bool(false) }
    if take("{") { return .object(try members()) }
    if take("[") { return .array(try list()) }
    if take("\"") { return .string(try string()) }
    return .number(try number())
  }

  private mutating func members() throws(TestError) -> [String: JSONValue] {
    var members: [String: JSONValue] = [:]
    skipSpace()
    if take("}") { return members }
    while true {
      skipSpace()
      guard take("\"") else { throw wrong("no name") }
      let name = try string()
      skipSpace()
      guard take(":") else { throw wrong("no colon") }
      guard members.updateValue(try value(), forKey: name) == nil else { throw wrong("\(name) twice") }
      skipSpace()
      if take("}") { return members }
      guard take(",") else { throw wrong("no comma") }
    }
  }

  private mutating func list() throws(TestError) -> [JSONValue] {
    var elements: [JSONValue] = []
    skipSpace()
    if take("]") { return elements }
    while true {
      elements.append(try value())
      skipSpace()
      if take("]") { return elements }
      guard take(",") else { throw wrong("no comma") }
    }
  }

  private mutating func number() throws(TestError) -> Double {
    let digits = bytes[position...].prefix { (0x30...0x39).contains($0) || "+-.eE".utf8.contains($0) }
    guard let number = Double(String(decoding: digits, as: UTF8.self)) else { throw wrong("no value") }
    position += digits.count
    return number
  }

  private mutating func string() throws(TestError) -> String {
    var text: [UInt8] = []
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      switch byte {
      case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
      case UInt8(ascii: "\\"): text += Array(String(try escape()).utf8)
      case 0..<0x20: throw wrong("a control character in a text")
      default: text.append(byte)
      }
    }
    throw wrong("a text without end")
  }

  /// The escape after a backslash; surrogate pairs do not occur here and are not read.
  private mutating func escape() throws(TestError) -> Character {
    for (letter, character) in [
      ("\"", "\""), ("\\", "\\"), ("/", "/"), ("b", "\u{8}"), ("f", "\u{c}"), ("n", "\n"), ("r", "\r"), ("t", "\t"),
    ] where take(letter) { return Character(character) }
    guard take("u") else { throw wrong("an unknown escape") }
    let digits = String(decoding: bytes[position...].prefix(4), as: UTF8.self)
    guard let code = UInt32(digits, radix: 16), let scalar = Unicode.Scalar(code) else { throw wrong("no character") }
    position += 4
    return Character(scalar)
  }
}
