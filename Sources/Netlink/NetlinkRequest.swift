internal import CNetlink
internal import Glibc
internal import ReachabilityModel

/// One or more request messages in a buffer that is sent with one call.
struct NetlinkRequest {
  private(set) var bytes: [UInt8] = []
  private var start = 0

  /// Removes all messages but keeps the memory.
  mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

  /// Adds a message.
  ///
  /// - Parameters:
  ///   - type: `RTM_*`.
  ///   - flags: `NLM_F_*`; `NLM_F_REQUEST` is added.
  ///   - sequence: the number that every response carries.
  ///   - body: writes the bytes after the header.
  mutating func message(_ type: Int, flags: Int32 = 0, sequence: UInt32, _ body: (inout NetlinkRequest) -> Void) {
    start = bytes.count
    append(UInt32(0))
    append(UInt16(type))
    append(UInt16(NLM_F_REQUEST | flags))
    append(sequence)
    append(UInt32(0))
    body(&self)
    // Every part is padded to 4 bytes, so the next message is aligned.
    patch(UInt32(bytes.count - start), at: start)
  }

  /// Adds an integer in host order.
  mutating func append(_ number: some FixedWidthInteger & BitwiseCopyable) {
    var number = number
    unsafe withUnsafeBytes(of: &number) { unsafe bytes.append(contentsOf: $0) }
  }

  /// Adds an attribute with an integer of 4 bytes.
  mutating func attribute(_ type: Int, _ number: UInt32) {
    append(UInt16(8))
    append(UInt16(type))
    append(number)
  }

  /// Adds an attribute with an integer of 2 bytes.
  mutating func attribute(_ type: Int, _ number: UInt16) {
    append(UInt16(6))
    append(UInt16(type))
    append(number)
    // Padded to 4 bytes.
    append(UInt16(0))
  }

  mutating func attribute(_ type: Int, _ byte: UInt8) {
    append(UInt16(5))
    append(UInt16(type))
    // Padded to 4 bytes.
    append(UInt32(byte).littleEndian)
  }

  mutating func attribute(_ type: Int, _ address: IPAddress) {
    append(UInt16(address.family == .ipv4 ? 8 : 20))
    append(UInt16(type))
    if address.family == .ipv6 {
      append(address.high.bigEndian)
      append(address.low.bigEndian)
    } else {
      append(UInt32(truncatingIfNeeded: address.low).bigEndian)
    }
  }

  private mutating func patch(_ number: UInt32, at offset: Int) {
    var number = number
    unsafe withUnsafeBytes(of: &number) { unsafe bytes.replaceSubrange(offset..<offset + 4, with: $0) }
  }
}
