internal import Database

/// One row of a database that was set aside, as the process that reads it writes it: four bytes with the length of the rest,
/// the kind, and the values.
///
/// The reader takes it for bytes of any content: the process may have ended in the middle of a row.
struct SalvageFrame: Equatable {
  /// The table of the row.
  enum Kind: UInt8 {
    case webhook = 1
    case target, subject
    /// After the last row: nothing is missing, but rows that cannot be read.
    case end
  }

  var kind: Kind
  var values: [DatabaseValue]

  private enum Tag: UInt8 {
    case null, integer, real, text, blob
  }

  var bytes: [UInt8] {
    var body: [UInt8] = [kind.rawValue]
    for value in values {
      switch value {
      case .null: body.append(Tag.null.rawValue)
      case .integer(let number): body += [Tag.integer.rawValue] + Self.bytes(of: UInt64(bitPattern: number))
      case .real(let number): body += [Tag.real.rawValue] + Self.bytes(of: number.bitPattern)
      case .text(let text): body += [Tag.text.rawValue] + Self.bytes(of: UInt32(clamping: text.utf8.count)) + text.utf8
      case .blob(let blob): body += [Tag.blob.rawValue] + Self.bytes(of: UInt32(clamping: blob.count)) + blob
      }
    }
    return Self.bytes(of: UInt32(clamping: body.count)) + body
  }

  private static func bytes(of number: some FixedWidthInteger) -> [UInt8] {
    (0..<number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
  }

  /// Reads all complete frames, up to the first that no process of this program writes.
  static func frames(in bytes: [UInt8]) -> [SalvageFrame] {
    var frames: [SalvageFrame] = []
    var rest = bytes[...]
    while let size = take(UInt32.self, &rest), Int(size) <= rest.count {
      guard let frame = SalvageFrame(rest.prefix(Int(size))) else { break }
      frames.append(frame)
      rest = rest.dropFirst(Int(size))
    }
    return frames
  }

  init(_ kind: Kind, _ values: [DatabaseValue] = []) {
    self.kind = kind
    self.values = values
  }

  private init?(_ body: ArraySlice<UInt8>) {
    guard let first = body.first, let kind = Kind(rawValue: first) else { return nil }
    self.kind = kind
    values = []
    var rest = body.dropFirst()
    while let tag = rest.popFirst() {
      guard let tag = Tag(rawValue: tag), let value = Self.value(tag, &rest) else { return nil }
      values.append(value)
    }
  }

  private static func value(_ tag: Tag, _ rest: inout ArraySlice<UInt8>) -> DatabaseValue? {
    switch tag {
    case .null: return DatabaseValue.null
    case .integer: return take(UInt64.self, &rest).map { DatabaseValue.bits($0) }
    case .real: return take(UInt64.self, &rest).map { DatabaseValue.real(Double(bitPattern: $0)) }
    case .text, .blob:
      guard let count = take(UInt32.self, &rest), Int(count) <= rest.count else { return nil }
      defer { rest = rest.dropFirst(Int(count)) }
      let content = rest.prefix(Int(count))
      return tag == .text ? .text(String(decoding: content, as: UTF8.self)) : .blob(Array(content))
    }
  }

  private static func take<Number: FixedWidthInteger>(_: Number.Type, _ rest: inout ArraySlice<UInt8>) -> Number? {
    let count = Number.bitWidth / 8
    guard rest.count >= count else { return nil }
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count).reversed().reduce(0) { $0 << 8 | Number(truncatingIfNeeded: $1) }
  }
}
