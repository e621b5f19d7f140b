internal import Glibc
internal import ReachabilityModel

/// A part of a datagram with bounds-checked access, without alignment requirements and without traps.
///
/// It points into the receive buffer of a ``NetlinkSocket`` and is valid until that socket receives again; it must not
/// be stored. The compiler cannot check this promise, which justifies `@safe`.
@safe struct NetlinkBytes {
  private let bytes: UnsafeRawBufferPointer

  /// A cursor over memory that outlives it.
  @unsafe init(_ bytes: UnsafeRawBufferPointer) {
    unsafe self.bytes = unsafe bytes
  }

  var count: Int { unsafe bytes.count }

  /// The integer in host order at an offset; nil when it is not wholly inside.
  @inline(__always)
  func load<Number: FixedWidthInteger & BitwiseCopyable>(_ offset: Int, as type: Number.Type = Number.self) -> Number? {
    guard offset >= 0, offset <= count - MemoryLayout<Number>.size else { return nil }
    return unsafe bytes.loadUnaligned(fromByteOffset: offset, as: Number.self)
  }

  /// The integer in network order at an offset; nil when it is not wholly inside.
  func loadBigEndian<Number: FixedWidthInteger & BitwiseCopyable>(_ offset: Int) -> Number? {
    load(offset, as: Number.self).map(Number.init(bigEndian:))
  }

  /// The `count` bytes that begin at `offset`; nil when they are not wholly inside.
  @inline(__always)
  func slice(_ offset: Int, _ count: Int) -> NetlinkBytes? {
    guard offset >= 0, count >= 0, offset <= self.count, count <= self.count - offset else { return nil }
    return unsafe NetlinkBytes(UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count]))
  }

  /// The bytes from `offset` to the end; empty when `offset` is beyond the end.
  func dropFirst(_ offset: Int) -> NetlinkBytes {
    if let rest = slice(offset, count - offset) { return rest }
    return unsafe NetlinkBytes(UnsafeRawBufferPointer(start: nil, count: 0))
  }

  /// The text up to the first zero byte, or to the end.
  var text: String {
    unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
  }

  /// An address of 4 or 16 bytes; nil for any other count.
  var address: IPAddress? {
    switch count {
    case 4: loadBigEndian(0).map(IPAddress.init(ipv4:))
    case 16: loadBigEndian(0).flatMap { high in loadBigEndian(8).map { IPAddress(ipv6: high, $0) } }
    default: nil
    }
  }
}

extension NetlinkBytes {
  /// Visits the attributes (`struct rtattr`, rtnetlink(3)) from `offset` to the end.
  ///
  /// - Parameters:
  ///   - offset: the offset of the first attribute.
  ///   - body: receives the type without its flag bits, and the payload.
  /// - Returns: false when the length of an attribute is invalid; the attributes before it have been visited.
  @inline(__always)
  @discardableResult
  func forEachAttribute(from offset: Int = 0, _ body: (Int, NetlinkBytes) -> Void) -> Bool {
    var position = offset
    // Fewer bytes than a header may follow as padding.
    while let length = load(position, as: UInt16.self), let type = load(position + 2, as: UInt16.self) {
      guard length >= 4, let payload = slice(position + 4, Int(length) - 4) else { return false }
      // NLA_F_NESTED and NLA_F_NET_BYTEORDER are the top two bits.
      body(Int(type & 0x3fff), payload)
      position += (Int(length) + 3) & ~3
    }
    return true
  }
}
