/// A JSON text (RFC 8259) as a tree; the members of an object keep their order.
public enum JSON: Sendable, Equatable {
  /// The literal `null`.
  case null
  /// The literal `true` or `false`.
  case bool(Bool)
  /// A number without fraction and exponent.
  case integer(Int64)
  /// Any other number.
  case number(Double)
  /// A string without NUL.
  case string(String)
  /// An array, in document order.
  case array([JSON])
  /// Names, each once, and values, in document order.
  case object([Member])

  /// One `"name": value` pair of an object.
  public struct Member: Sendable, Equatable {
    /// The name.
    public let name: String
    /// The value of the member.
    public let value: JSON

    /// Creates a member.
    public init(name: String, value: JSON) {
      self.name = name
      self.value = value
    }
  }

  /// The text of a string; nil for other values.
  public var string: String? {
    guard case .string(let text) = self else { return nil }
    return text
  }

  /// The elements of an array; nil for other values.
  public var elements: [JSON]? {
    guard case .array(let nodes) = self else { return nil }
    return nodes
  }

  /// The members of an object; nil for other values.
  public var members: [Member]? {
    guard case .object(let members) = self else { return nil }
    return members
  }

  /// The value of a member; nil if it is missing or the node is not an object.
  public subscript(name: String) -> JSON? { members?.first { $0.name == name }?.value }

  /// The type of the value, for error messages: `a string`, `null`.
  public var kind: String {
    switch self {
    case .null: "null"
    case .bool: "a boolean"
    case .integer, .number: "a number"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }
}

extension JSON {
  /// Reads one JSON text, strictly.
  ///
  /// Rejects with a position: what RFC 8259 does not allow, anything after the value, a byte order mark, duplicate
  /// names in an object, bytes that are not UTF-8, lone surrogates, `\u0000`, numbers that fit neither 64 bits nor a
  /// double, more than 32 levels.
  ///
  /// - Parameter bytes: the text, UTF-8; the caller limits its length.
  /// - Returns: the tree.
  /// - Throws: ``JSONError`` for the first error.
  public static func parse(_ bytes: [UInt8]) throws(JSONError) -> JSON { try JSONDocumentReader.read(bytes) }
}
