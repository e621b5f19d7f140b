/// Integers of variable length: seven bits a byte, the lowest first, as in protocol buffers (LEB128).
enum SampleVarint {
  /// Appends a number: a byte for each seven bits.
  static func append(_ value: UInt64, to bytes: inout [UInt8]) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  /// Maps small negative and positive numbers to small unsigned ones.
  static func zigzag(_ value: Int64) -> UInt64 { UInt64(bitPattern: (value << 1) ^ (value >> 63)) }

  /// The inverse of ``zigzag(_:)``.
  static func unzigzag(_ value: UInt64) -> Int64 { Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1) }
}

/// Reads integers of variable length; it ends at the first byte that is not valid.
struct SampleVarintReader {
  private let bytes: ArraySlice<UInt8>
  private var position: Int

  init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    position = bytes.startIndex
  }

  var isAtEnd: Bool { position >= bytes.endIndex }

  /// Returns the next number; nil at the end, and for one of more than 64 bits.
  mutating func next() -> UInt64? {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while position < bytes.endIndex {
      let byte = bytes[position]
      position += 1
      guard shift < 63 || byte <= 1 else { return nil }
      value |= UInt64(byte & 0x7f) << shift
      if byte < 0x80 { return value }
      shift += 7
      guard shift <= 63 else { return nil }
    }
    return nil
  }
}
