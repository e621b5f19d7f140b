extension JSON {
  /// Returns an object with these members, in this order.
  public static func members(_ members: KeyValuePairs<String, JSON>) -> JSON {
    .object(members.map { Member(name: $0.key, value: $0.value) })
  }

  /// Returns a string, or null.
  public static func text(_ text: String?) -> JSON { text.map(JSON.string) ?? .null }

  /// Returns an array of strings.
  public static func list(_ texts: some Sequence<String>) -> JSON { .array(texts.map(JSON.string)) }

  /// The compact encoding in UTF-8, on one line.
  public var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(512)
    write(to: &bytes)
    return bytes
  }

  private func write(to bytes: inout [UInt8]) {
    switch self {
    case .null: bytes += "null".utf8
    case .bool(let value): bytes += (value ? "true" : "false").utf8
    case .integer(let value): bytes += String(value).utf8
    // JSON has no infinities; Swift's description of every other number is valid JSON.
    case .number(let value): bytes += (value.isFinite ? "\(value)" : "null").utf8
    case .string(let value): Self.write(value, to: &bytes)
    case .array(let values): Self.write(values, between: ("[", "]"), to: &bytes) { $0.write(to: &$1) }
    case .object(let members):
      Self.write(members, between: ("{", "}"), to: &bytes) { member, bytes in
        Self.write(member.name, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        member.value.write(to: &bytes)
      }
    }
  }

  static func write<Element>(
    _ elements: [Element], between brackets: (Unicode.Scalar, Unicode.Scalar), to bytes: inout [UInt8],
    _ write: (Element, inout [UInt8]) -> Void
  ) {
    bytes.append(UInt8(ascii: brackets.0))
    for (index, element) in elements.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      write(element, &bytes)
    }
    bytes.append(UInt8(ascii: brackets.1))
  }

  static func write(_ text: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    defer { bytes.append(UInt8(ascii: "\"")) }
    // Almost no text has characters to escape, and those of Swift are contiguous.
    let isCopied = unsafe text.utf8.withContiguousStorageIfAvailable { utf8 in
      guard unsafe !utf8.contains(where: mayBeEscaped) else { return false }
      unsafe bytes.append(contentsOf: utf8)
      return true
    }
    if isCopied == true { return }
    for scalar in text.unicodeScalars {
      guard scalar.isASCII else {
        if isControl(scalar) {
          let digits = String(scalar.value, radix: 16)
          bytes += "\\u\(String(repeating: "0", count: 4 - digits.utf8.count))\(digits)".utf8
        } else {
          bytes += scalar.utf8
        }
        continue
      }
      let byte = UInt8(truncatingIfNeeded: scalar.value)
      switch byte {
      case UInt8(ascii: "\""): bytes += "\\\"".utf8
      case UInt8(ascii: "\\"): bytes += "\\\\".utf8
      case 0x0a: bytes += "\\n".utf8
      case 0x0d: bytes += "\\r".utf8
      case 0x09: bytes += "\\t".utf8
      case 0..<0x20, 0x7f:
        let digits = String(byte, radix: 16)
        bytes += "\\u00\(digits.utf8.count == 1 ? "0" : "")\(digits)".utf8
      default: bytes.append(byte)
      }
    }
  }

  /// Whether a character beyond ASCII is escaped: controls (C1) and marks of the direction of text, which a terminal interprets,
  /// and line separators, at which common readers of event streams split lines (NEL, LS, PS).
  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x80...0x9f, 0x61c, 0x200e...0x200f, 0x2028...0x202e, 0x2066...0x2069: true
    default: false
    }
  }

  /// Whether a byte is escaped, or begins the code of a character that may be.
  private static func mayBeEscaped(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte == 0x7f || byte == 0xc2
      || byte == 0xd8 || byte == 0xe2
  }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByNilLiteral
{
  /// A string.
  public init(stringLiteral value: String) { self = .string(value) }
  /// A Boolean.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// An integer.
  public init(integerLiteral value: Int64) { self = .integer(value) }
  /// Null.
  public init(nilLiteral: ()) { self = .null }
}
