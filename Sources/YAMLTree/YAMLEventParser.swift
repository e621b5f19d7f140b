internal import CYAML

/// A libyaml event as a value; only this file uses libyaml's pointers.
struct YAMLEvent {
  /// The kinds of event that the tree needs.
  enum Kind {
    case streamStart, streamEnd, documentStart, documentEnd
    case alias(String)
    case scalar(String, isPlain: Bool)
    case sequenceStart, sequenceEnd, mappingStart, mappingEnd
  }

  let kind: Kind
  let position: YAMLPosition
  var anchor: String?
  var tag: String?
}

/// A libyaml parser over a copy of its input.
@safe final class YAMLEventParser {
  private let parser: UnsafeMutablePointer<yaml_parser_t>
  private let bytes: [UInt8]
  /// A copy of the input at a fixed address, because libyaml keeps the address of its input.
  private let input: UnsafeMutablePointer<UInt8>

  init(_ bytes: [UInt8]) throws(YAMLError) {
    self.bytes = bytes
    unsafe input = .allocate(capacity: max(bytes.count, 1))
    unsafe input.initialize(repeating: 0, count: max(bytes.count, 1))
    for (index, byte) in bytes.enumerated() { unsafe input[index] = byte }
    unsafe parser = .allocate(capacity: 1)
    unsafe parser.initialize(to: yaml_parser_t())
    guard unsafe yaml_parser_initialize(parser) == 1 else {
      throw YAMLError(line: 1, column: 1, message: "out of memory")
    }
    // The encoding is fixed, because libyaml otherwise detects UTF-16 from the first bytes.
    unsafe yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
    unsafe yaml_parser_set_input_string(parser, input, bytes.count)
  }

  deinit {
    unsafe yaml_parser_delete(parser)
    unsafe parser.deallocate()
    unsafe input.deallocate()
  }

  /// The next event; must not be called after an error or the end of the stream.
  func next() throws(YAMLError) -> YAMLEvent {
    var event = unsafe yaml_event_t()
    guard unsafe yaml_parser_parse(parser, &event) == 1 else { throw diagnostic() }
    defer { unsafe yaml_event_delete(&event) }
    let position = unsafe Self.position(event.start_mark)
    switch unsafe event.type {
    case YAML_STREAM_START_EVENT: return YAMLEvent(kind: .streamStart, position: position)
    case YAML_DOCUMENT_START_EVENT: return YAMLEvent(kind: .documentStart, position: position)
    case YAML_DOCUMENT_END_EVENT: return YAMLEvent(kind: .documentEnd, position: position)
    case YAML_SEQUENCE_END_EVENT: return YAMLEvent(kind: .sequenceEnd, position: position)
    case YAML_MAPPING_END_EVENT: return YAMLEvent(kind: .mappingEnd, position: position)
    case YAML_ALIAS_EVENT:
      return unsafe YAMLEvent(kind: .alias(Self.text(event.data.alias.anchor) ?? ""), position: position)
    case YAML_SCALAR_EVENT: return unsafe Self.scalar(event.data.scalar, position)
    case YAML_SEQUENCE_START_EVENT:
      let start = unsafe event.data.sequence_start
      return unsafe YAMLEvent(
        kind: .sequenceStart, position: position, anchor: Self.text(start.anchor), tag: Self.text(start.tag))
    case YAML_MAPPING_START_EVENT:
      let start = unsafe event.data.mapping_start
      return unsafe YAMLEvent(
        kind: .mappingStart, position: position, anchor: Self.text(start.anchor), tag: Self.text(start.tag))
    default: return YAMLEvent(kind: .streamEnd, position: position)
    }
  }

  private typealias ScalarEvent = yaml_event_s.__Unnamed_union_data.__Unnamed_struct_scalar

  private static func scalar(_ scalar: ScalarEvent, _ position: YAMLPosition) -> YAMLEvent {
    // The length counts, not the first NUL: "\0" is a legal escape in a double-quoted scalar.
    let bytes = unsafe UnsafeBufferPointer(start: scalar.value, count: scalar.length)
    let isPlain = unsafe scalar.style == YAML_PLAIN_SCALAR_STYLE
    return unsafe YAMLEvent(
      kind: .scalar(String(decoding: bytes, as: UTF8.self), isPlain: isPlain), position: position,
      anchor: text(scalar.anchor), tag: text(scalar.tag))
  }

  private static func text(_ pointer: UnsafeMutablePointer<yaml_char_t>?) -> String? {
    guard let pointer = unsafe pointer else { return nil }
    return unsafe String(decodingCString: pointer, as: UTF8.self)
  }

  private static func position(_ mark: yaml_mark_t) -> YAMLPosition {
    YAMLPosition(line: Int(mark.line) + 1, column: Int(mark.column) + 1)
  }

  /// The error as libyaml describes it.
  private func diagnostic() -> YAMLError {
    let problem = unsafe parser.pointee.problem
    let reason = unsafe problem.map { unsafe String(cString: $0) } ?? "out of memory"
    if unsafe parser.pointee.error == YAML_READER_ERROR {
      // The reader counts bytes, not lines, and is ahead of the parser's mark.
      let offset = unsafe Int(parser.pointee.problem_offset)
      return YAMLError(at: YAMLPosition(ofByte: offset, in: bytes), reason)
    }
    let position = unsafe Self.position(parser.pointee.problem_mark)
    guard let context = unsafe parser.pointee.context else { return YAMLError(at: position, reason) }
    return unsafe YAMLError(at: position, "\(String(cString: context)), \(reason)")
  }
}
