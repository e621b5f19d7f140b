/// What a JSON text says (RFC 8259): a tree whose members keep their order.
public indirect enum JSONNode: Sendable, Equatable {
  /// Nothing.
  case null
  /// True or false.
  case bool(Bool)
  /// A number without fraction and exponent.
  case integer(Int64)
  /// Any other number.
  case number(Double)
  /// A text without NUL.
  case string(String)
  /// A list, in the order of the text.
  case array([JSONNode])
  /// Names, each once, and values, in the order of the text.
  case object([Member])

  /// One `"name": value` of an object.
  public struct Member: Sendable, Equatable {
    /// The name.
    public let name: String
    /// What the name is given.
    public let value: JSONNode

    /// Makes a member.
    public init(name: String, value: JSONNode) {
      self.name = name
      self.value = value
    }
  }

  /// The text of a string; nil for the others.
  public var string: String? {
    guard case .string(let text) = self else { return nil }
    return text
  }

  /// The elements of an array; nil for the others.
  public var elements: [JSONNode]? {
    guard case .array(let nodes) = self else { return nil }
    return nodes
  }

  /// The members of an object; nil for the others.
  public var members: [Member]? {
    guard case .object(let members) = self else { return nil }
    return members
  }

  /// The value of a name in an object; nil if there is none, or for the other kinds.
  public subscript(name: String) -> JSONNode? { members?.first { $0.name == name }?.value }

  /// What kind of value this is, for a complaint: `a string`, `null`.
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

extension JSONNode {
  /// Reads one JSON text, strictly.
  ///
  /// Refused, each with its place: what RFC 8259 does not allow, anything behind the value, a byte order mark, a name
  /// given twice in an object, bytes that are not UTF-8, lone surrogates, `\u0000`, numbers that neither 64 bits nor a
  /// double can hold, more than 32 levels.
  /// - Parameter bytes: the text, UTF-8; how long it may be is for the caller to bound.
  /// - Returns: the tree.
  /// - Throws: ``JSONError`` at the first complaint.
  public static func parse(_ bytes: [UInt8]) throws(JSONError) -> JSONNode { try DocumentReader.read(bytes) }
}
