/// One node of a YAML document, with its position.
///
/// The tree is the *syntax*: nothing is converted. Whether a plain `no` is a boolean depends on the key, so the code
/// that uses the node decides. A quoted scalar (`isPlain == false`) is always a string.
public struct YAMLNode: Sendable, Equatable {
  /// Where the node begins.
  public let position: YAMLPosition

  /// What the node is.
  public let value: Value

  /// Creates a node; for the parser and for tests.
  public init(position: YAMLPosition, value: Value) {
    self.position = position
    self.value = value
  }

  /// The content of a node.
  public indirect enum Value: Sendable, Equatable {
    /// A text. `isPlain` is false for quoted, literal (`|`) and folded (`>`) scalars and for those tagged `!!str` or
    /// `!`: these are always strings. `tag` is a core-schema tag such as `tag:yaml.org,2002:int`, or nil.
    case scalar(String, isPlain: Bool, tag: String?)

    /// A list, in document order.
    case sequence([YAMLNode])

    /// Keys (always scalars, each once) and values, in document order.
    case mapping([Entry])
  }

  /// One `key: value` pair of a mapping.
  public struct Entry: Sendable, Equatable {
    /// The key: always a scalar.
    public let key: YAMLNode

    /// The value of the key.
    public let value: YAMLNode

    /// Creates an entry.
    public init(key: YAMLNode, value: YAMLNode) {
      self.key = key
      self.value = value
    }

    /// The text of the key.
    public var name: String { key.scalar ?? "" }
  }

  /// The text of a scalar; nil for collections.
  public var scalar: String? {
    guard case .scalar(let text, _, _) = value else { return nil }
    return text
  }

  /// The elements of a sequence; nil for other nodes.
  public var elements: [YAMLNode]? {
    guard case .sequence(let nodes) = value else { return nil }
    return nodes
  }

  /// The entries of a mapping; nil for other nodes.
  public var entries: [Entry]? {
    guard case .mapping(let entries) = value else { return nil }
    return entries
  }

  /// The value of a key in a mapping; nil if the key is missing or the node is not a mapping.
  public subscript(name: String) -> YAMLNode? {
    entries?.first { $0.name == name }?.value
  }
}

extension YAMLNode {
  /// Reads one YAML 1.1 document (as libyaml implements it) as a tree.
  ///
  /// Rejects with a position: a second document, anchors and aliases (a few of them expand to gigabytes), duplicate
  /// keys, keys that are collections, tags outside the core schema, more than 64 levels, more than 4 MiB, bytes that
  /// are not UTF-8. A byte order mark at the start is skipped.
  ///
  /// - Parameter bytes: the text, UTF-8.
  /// - Returns: the root, or nil for a document without content (empty, or comments only).
  /// - Throws: ``YAMLError`` for the first error.
  public static func parse(_ bytes: [UInt8]) throws(YAMLError) -> YAMLNode? {
    guard bytes.count <= Limits.documentBytes else {
      throw YAMLError(
        line: 1, column: 1,
        message: "the document has \(bytes.count) bytes; at most \(Limits.documentBytes) are read")
    }
    // libyaml would count the byte order mark as a column of the first line.
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    let text = bytes.starts(with: mark) ? Array(bytes.dropFirst(mark.count)) : bytes
    if let offset = firstInvalidByte(text) {
      throw YAMLError(at: YAMLPosition(ofByte: offset, in: text), "this byte is not UTF-8 text")
    }
    return try YAMLNodeComposer.read(text)
  }

  /// Reads one YAML document from a string; see ``parse(_:)-([UInt8])``.
  ///
  /// - Parameter text: the document.
  /// - Returns: the root, or nil for a document without content.
  /// - Throws: ``YAMLError`` for the first error.
  public static func parse(_ text: String) throws(YAMLError) -> YAMLNode? {
    try parse(Array(text.utf8))
  }

  /// The offset of the first byte that is not part of a UTF-8 sequence (Unicode 15, table 3-7), or nil.
  private static func firstInvalidByte(_ bytes: [UInt8]) -> Int? {
    var decoder = UTF8()
    var iterator = bytes.makeIterator()
    var offset = 0
    while true {
      switch decoder.decode(&iterator) {
      case .scalarValue(let scalar): offset += UTF8.width(scalar)
      case .emptyInput: return nil
      case .error: return offset
      }
    }
  }
}
