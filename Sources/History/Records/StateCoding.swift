/// Writes the fields of a stored state one after the other; integers are little-endian.
struct StateRecordWriter {
  private(set) var bytes: [UInt8] = []

  mutating func write(_ value: some FixedWidthInteger) {
    var rest = value
    for _ in 0..<value.bitWidth / 8 {
      bytes.append(UInt8(truncatingIfNeeded: rest))
      rest >>= 8
    }
  }

  mutating func write(_ value: Bool) { bytes.append(value ? 1 : 0) }

  /// The bytes of a text after their number; more than 65,535 are cut off.
  mutating func write(_ text: String) {
    let utf8 = Array(text.utf8.prefix(Int(UInt16.max)))
    write(UInt16(utf8.count))
    bytes += utf8
  }

  mutating func write(_ text: String?) {
    write(text != nil)
    if let text { write(text) }
  }
}

/// Reads what ``StateRecordWriter`` wrote; after the first field that is missing, every field is nil.
struct StateRecordReader {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  mutating func integer<Value: FixedWidthInteger>(_: Value.Type = Value.self) -> Value? {
    let count = Value.bitWidth / 8
    guard rest.count >= count else {
      rest = []
      return nil
    }
    var value: Value = 0
    for byte in rest.prefix(count).reversed() { value = value << 8 | Value(truncatingIfNeeded: byte) }
    rest = rest.dropFirst(count)
    return value
  }

  mutating func bool() -> Bool? { integer(UInt8.self).map { $0 != 0 } }

  mutating func text() -> String? {
    guard let count = integer(UInt16.self), rest.count >= count else { return nil }
    defer { rest = rest.dropFirst(Int(count)) }
    return String(decoding: rest.prefix(Int(count)), as: UTF8.self)
  }

  /// A text or none; nil where the bytes end.
  mutating func optionalText() -> String?? {
    guard let isPresent = bool() else { return nil }
    guard isPresent else { return .some(nil) }
    return text().map(Optional.some)
  }
}
