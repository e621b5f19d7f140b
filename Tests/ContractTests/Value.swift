import Testing
import YAMLTree

/// A JSON value; JSON is YAML in flow style, so one parser reads the contract and the answers.
enum Value: Equatable {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
  case array([Value])
  case object([String: Value])

  /// A node by the rules of YAML's core schema: what is quoted is text.
  init(_ node: YAMLNode) {
    switch node.value {
    case .sequence(let nodes): self = .array(nodes.map(Value.init))
    case .mapping(let entries):
      self = .object(Dictionary(entries.map { ($0.name, Value($0.value)) }, uniquingKeysWith: { $1 }))
    case .scalar(let text, isPlain: false, _): self = .string(text)
    case .scalar(let text, _, _):
      switch text {
      case "", "~", "null": self = .null
      case "true": self = .bool(true)
      case "false": self = .bool(false)
      default:
        let looksLikeNumber = text.utf8.first.map { (0x30...0x39).contains($0) || $0 == 0x2d } ?? false
        let number = looksLikeNumber && !text.contains("x") ? Double(text) : nil
        self = number.map(Value.number) ?? .string(text)
      }
    }
  }

  /// Parses a JSON text.
  init(json text: String) throws {
    self = Value(try #require(try YAMLNode.parse(text)))
  }

  /// A member of an object.
  subscript(name: String) -> Value? {
    guard case .object(let members) = self else { return nil }
    return members[name]
  }

  /// The members of an object; none for the others.
  var members: [String: Value] {
    guard case .object(let members) = self else { return [:] }
    return members
  }

  /// The elements of an array; none for the others.
  var elements: [Value] {
    guard case .array(let elements) = self else { return [] }
    return elements
  }

  /// The text of a string.
  var text: String? {
    guard case .string(let text) = self else { return nil }
    return text
  }

  /// The texts of an array of strings, null left out.
  var texts: [String] { elements.compactMap(\.text) }

  /// This value with `change` applied to every member of a name, at any depth.
  func replacing(_ name: String, _ change: (Value) -> Value) -> Value {
    switch self {
    case .array(let elements): .array(elements.map { $0.replacing(name, change) })
    case .object(let members):
      .object(
        Dictionary(
          uniqueKeysWithValues: members.map { key, value in
            (key, key == name ? change(value) : value.replacing(name, change))
          }))
    default: self
    }
  }
}
