internal import CJansson

/// Converts jansson's document to a tree of values; only this file uses jansson's pointers.
enum JSONDocumentReader {
  static func read(_ bytes: [UInt8]) throws(JSONError) -> JSON {
    var error = json_error_t()
    // By default jansson accepts only an array or an object as the root. The caller decides which type a body must
    // have, and gives better messages.
    let flags = Int(JSON_REJECT_DUPLICATES | JSON_DECODE_ANY)
    let document = unsafe bytes.withUnsafeBytes { bytes in
      unsafe json_loadb(bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count, flags, &error)
    }
    guard let document = unsafe document else { throw diagnostic(error) }
    defer { unsafe json_decref(document) }
    return try unsafe node(document, depth: 0)
  }

  private static func node(_ value: UnsafeMutablePointer<json_t>, depth: Int) throws(JSONError) -> JSON {
    switch unsafe value.pointee.type {
    case JSON_OBJECT: return .object(try unsafe members(value, depth: try checkDepth(depth)))
    case JSON_ARRAY: return .array(try unsafe elements(value, depth: try checkDepth(depth)))
    case JSON_STRING: return .string(unsafe text(json_string_value(value), json_string_length(value)))
    case JSON_INTEGER: return .integer(unsafe Int64(json_integer_value(value)))
    case JSON_REAL: return .number(unsafe json_real_value(value))
    case JSON_TRUE: return .bool(true)
    case JSON_FALSE: return .bool(false)
    default: return .null
    }
  }

  private static func checkDepth(_ depth: Int) throws(JSONError) -> Int {
    guard depth < Limits.depth else {
      // jansson keeps no positions, and the text is already parsed.
      throw JSONError(line: 1, column: 1, message: "nested deeper than \(Limits.depth) levels")
    }
    return depth + 1
  }

  private static func elements(_ array: UnsafeMutablePointer<json_t>, depth: Int) throws(JSONError) -> [JSON] {
    var nodes: [JSON] = []
    let count = unsafe json_array_size(array)
    nodes.reserveCapacity(count)
    for index in 0..<count {
      guard let element = unsafe json_array_get(array, index) else { continue }
      nodes.append(try unsafe node(element, depth: depth))
    }
    return nodes
  }

  private static func members(
    _ object: UnsafeMutablePointer<json_t>, depth: Int
  ) throws(JSONError) -> [JSON.Member] {
    var members: [JSON.Member] = []
    var iterator = unsafe json_object_iter(object)
    while let place = unsafe iterator {
      if let value = unsafe json_object_iter_value(place), let name = unsafe json_object_iter_key(place) {
        members.append(.init(name: unsafe String(cString: name), value: try unsafe node(value, depth: depth)))
      }
      unsafe iterator = json_object_iter_next(object, place)
    }
    return members
  }

  private static func text(_ start: UnsafePointer<CChar>?, _ length: Int) -> String {
    let bytes = unsafe UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : length)
    return unsafe String(decoding: bytes, as: UTF8.self)
  }

  /// The error as jansson describes it; it quotes at most a few bytes of the text.
  private static func diagnostic(_ error: json_error_t) -> JSONError {
    let message = unsafe withUnsafeBytes(of: error.text) { bytes in
      unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    // The error of an empty text has no position.
    return JSONError(
      line: max(1, Int(error.line)), column: max(1, Int(error.column)),
      message: message.isEmpty ? "not JSON text" : message)
  }
}
