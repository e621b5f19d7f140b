internal import Glibc

/// Encodes and decodes echo requests and replies.
///
/// The fields are type, code, checksum, identifier, sequence and payload (RFC 792, RFC 4443 §4.1).
enum ICMPEchoPacket {
  static let request4: UInt8 = 8
  static let request6: UInt8 = 128
  static let reply4: UInt8 = 0
  static let reply6: UInt8 = 129
  static let headerBytes = 8
  static let cookieBytes = 8

  /// The decoded fields of a packet.
  struct Head: Equatable {
    let type: UInt8
    let identifier: UInt16
    let sequence: UInt16
    /// The first eight bytes of the payload; nil if there are fewer.
    let cookie: UInt64?
  }

  /// Writes a request and returns its length.
  ///
  /// The checksum is that of IPv4; for IPv6 and for datagram sockets the kernel writes its own.
  static func write(
    into buffer: UnsafeMutableRawBufferPointer, isIPv6: Bool, identifier: UInt16, sequence: UInt16, cookie: UInt64,
    payload: Int
  ) -> Int {
    let length = headerBytes + min(max(payload, 0), Limits.echoPayload)
    for index in headerBytes..<length { unsafe buffer[index] = UInt8(truncatingIfNeeded: index) }
    unsafe buffer[0] = isIPv6 ? request6 : request4
    unsafe buffer[1] = 0
    unsafe buffer.storeBytes(of: 0, toByteOffset: 2, as: UInt16.self)
    unsafe buffer.storeBytes(of: identifier.bigEndian, toByteOffset: 4, as: UInt16.self)
    unsafe buffer.storeBytes(of: sequence.bigEndian, toByteOffset: 6, as: UInt16.self)
    if length >= headerBytes + 8 { unsafe buffer.storeBytes(of: cookie, toByteOffset: 8, as: UInt64.self) }
    if !isIPv6 {
      let sum = unsafe checksum(UnsafeRawBufferPointer(rebasing: buffer[..<length]))
      unsafe buffer.storeBytes(of: sum.bigEndian, toByteOffset: 2, as: UInt16.self)
    }
    return length
  }

  /// Decodes a packet; `skipsHeader` if an IPv4 header precedes it, as in raw sockets.
  static func read(_ bytes: UnsafeRawBufferPointer, skipsHeader: Bool) -> Head? {
    var start = 0
    if skipsHeader {
      guard let first = unsafe bytes.first else { return nil }
      start = Int(first & 0x0F) * 4
      guard start >= 20 else { return nil }
    }
    guard bytes.count >= start + headerBytes else { return nil }
    let identifier = unsafe bytes.loadUnaligned(fromByteOffset: start + 4, as: UInt16.self)
    let sequence = unsafe bytes.loadUnaligned(fromByteOffset: start + 6, as: UInt16.self)
    let isWhole = bytes.count >= start + headerBytes + 8
    return unsafe Head(
      type: bytes[start], identifier: UInt16(bigEndian: identifier), sequence: UInt16(bigEndian: sequence),
      cookie: isWhole ? bytes.loadUnaligned(fromByteOffset: start + headerBytes, as: UInt64.self) : nil)
  }

  /// The internet checksum (RFC 1071).
  static func checksum(_ bytes: UnsafeRawBufferPointer) -> UInt16 {
    var sum: UInt32 = 0
    var index = 0
    while index + 1 < bytes.count {
      sum += unsafe UInt32(bytes[index]) << 8 | UInt32(bytes[index + 1])
      index += 2
    }
    if index < bytes.count { sum += unsafe UInt32(bytes[index]) << 8 }
    while sum >> 16 != 0 { sum = sum & 0xFFFF + sum >> 16 }
    return ~UInt16(truncatingIfNeeded: sum)
  }
}
