/// Builds the tree from events, and rejects features that a configuration file does not need.
struct YAMLNodeComposer {
  private let parser: YAMLEventParser

  /// The tags that plain scalars resolve to (YAML 1.1 core types); every other tag requires application code.
  private static let scalarTags: Set<String> = [
    "tag:yaml.org,2002:str", "tag:yaml.org,2002:int", "tag:yaml.org,2002:float", "tag:yaml.org,2002:bool",
    "tag:yaml.org,2002:null",
  ]
  private static let stringTag = "tag:yaml.org,2002:str"
  /// `! text`: the non-specific tag, which disables type resolution.
  private static let nonSpecificTag = "!"

  /// Reads the only document in `bytes`, which are UTF-8 without a byte order mark.
  static func read(_ bytes: [UInt8]) throws(YAMLError) -> YAMLNode? {
    let reader = YAMLNodeComposer(parser: try YAMLEventParser(bytes))
    return try reader.document()
  }

  private func document() throws(YAMLError) -> YAMLNode? {
    _ = try parser.next()  // the start of the stream
    guard case .documentStart = try parser.next().kind else { return nil }
    let root = try node(try parser.next(), depth: 0)
    _ = try parser.next()  // the end of the document
    let after = try parser.next()
    if case .documentStart = after.kind {
      throw YAMLError(at: after.position, "a second document begins here; write one document, without another '---'")
    }
    // libyaml reads `---` alone as an empty plain scalar; users mean an empty document.
    if case .scalar("", isPlain: true, tag: nil) = root.value { return nil }
    return root
  }

  private func node(_ event: YAMLEvent, depth: Int) throws(YAMLError) -> YAMLNode {
    if let anchor = event.anchor {
      throw YAMLError(at: event.position, "anchors are not supported: write the value out instead of '&\(anchor)'")
    }
    switch event.kind {
    case .alias(let name):
      throw YAMLError(at: event.position, "aliases are not supported: write the value out instead of '*\(name)'")
    case .scalar(let text, let isPlain):
      return try scalar(text, isPlain: isPlain, event)
    case .sequenceStart:
      try check(event, depth: depth, tag: "tag:yaml.org,2002:seq")
      return YAMLNode(position: event.position, value: .sequence(try sequence(depth: depth + 1)))
    case .mappingStart:
      try check(event, depth: depth, tag: "tag:yaml.org,2002:map")
      return YAMLNode(position: event.position, value: .mapping(try mapping(depth: depth + 1)))
    case .streamStart, .streamEnd, .documentStart, .documentEnd, .sequenceEnd, .mappingEnd:
      throw YAMLError(at: event.position, "a value is missing here")
    }
  }

  private func scalar(_ text: String, isPlain: Bool, _ event: YAMLEvent) throws(YAMLError) -> YAMLNode {
    guard let tag = event.tag else {
      return YAMLNode(position: event.position, value: .scalar(text, isPlain: isPlain, tag: nil))
    }
    if tag == Self.nonSpecificTag {
      return YAMLNode(position: event.position, value: .scalar(text, isPlain: false, tag: nil))
    }
    guard Self.scalarTags.contains(tag) else { throw Self.unknownTag(tag, event) }
    let isGuessable = isPlain && tag != Self.stringTag
    return YAMLNode(position: event.position, value: .scalar(text, isPlain: isGuessable, tag: tag))
  }

  private func check(_ event: YAMLEvent, depth: Int, tag allowed: String) throws(YAMLError) {
    guard depth < Limits.depth else {
      throw YAMLError(at: event.position, "nested deeper than \(Limits.depth) levels")
    }
    if let tag = event.tag, tag != allowed, tag != Self.nonSpecificTag { throw Self.unknownTag(tag, event) }
  }

  private static func unknownTag(_ tag: String, _ event: YAMLEvent) -> YAMLError {
    YAMLError(at: event.position, "the tag '\(tag)' is not supported: leave it out, and quote the value if it is text")
  }

  private func sequence(depth: Int) throws(YAMLError) -> [YAMLNode] {
    var nodes: [YAMLNode] = []
    while true {
      let event = try parser.next()
      if case .sequenceEnd = event.kind { return nodes }
      nodes.append(try node(event, depth: depth))
    }
  }

  private func mapping(depth: Int) throws(YAMLError) -> [YAMLNode.Entry] {
    var entries: [YAMLNode.Entry] = []
    var lines: [String: Int] = [:]
    while true {
      let event = try parser.next()
      if case .mappingEnd = event.kind { return entries }
      let key = try self.key(event)
      let name = key.scalar ?? ""
      if let first = lines[name] {
        throw YAMLError(at: key.position, "the key '\(name)' is given twice: first on line \(first), again here")
      }
      lines[name] = key.position.line
      entries.append(YAMLNode.Entry(key: key, value: try node(try parser.next(), depth: depth)))
    }
  }

  private func key(_ event: YAMLEvent) throws(YAMLError) -> YAMLNode {
    switch event.kind {
    case .sequenceStart, .mappingStart:
      throw YAMLError(at: event.position, "a key must be a plain or quoted text, not a list or a mapping")
    default: return try node(event, depth: 0)
    }
  }
}
