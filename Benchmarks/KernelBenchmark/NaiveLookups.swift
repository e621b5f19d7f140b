import CNetlink
import Glibc

/// The simplest lookup of each target: one request and one response, without decoding.
struct NaiveLookups {
  private let socket: Int32

  init() throws {
    socket = Glibc.socket(AF_NETLINK, Int32(SOCK_RAW.rawValue), NETLINK_ROUTE)
    guard socket >= 0 else { throw Failure("socket") }
  }

  struct Failure: Error {
    let operation: String
    let code = errno
    init(_ operation: String) { self.operation = operation }
  }

  private static func append(_ number: some FixedWidthInteger, to bytes: inout [UInt8]) {
    for shift in stride(from: 0, to: number.bitWidth, by: 8) {
      bytes.append(UInt8(truncatingIfNeeded: number >> shift))
    }
  }

  /// A request with a header, `struct rtmsg` and attributes; x86 and ARM are little-endian.
  static func request(_ type: Int, flags: Int32, route: [UInt8], flags routeFlags: UInt32 = 0, _ attributes: [UInt8])
    -> [UInt8]
  {
    var bytes: [UInt8] = []
    append(UInt32(16 + 12 + attributes.count), to: &bytes)
    append(UInt16(type), to: &bytes)
    append(UInt16(NLM_F_REQUEST | flags), to: &bytes)
    append(UInt64(1), to: &bytes)
    bytes += route
    append(routeFlags, to: &bytes)
    return bytes + attributes
  }

  private func send(_ bytes: [UInt8]) throws {
    let sent = unsafe bytes.withUnsafeBytes { unsafe Glibc.send(socket, $0.baseAddress, $0.count, 0) }
    guard sent == bytes.count else { throw Failure("send") }
  }

  /// Returns the duration of `count` lookups of addresses from 198.18.0.0 on.
  func nanoseconds(count: Int) throws -> Int64 {
    var buffer = [UInt8](repeating: 0, count: 8192)
    let begin = now()
    for number in 0..<UInt32(count) {
      let address = 0xc612_0000 &+ (number % 256) << 9 &+ number / 256
      var attribute: [UInt8] = [8, 0, 1, 0]
      for shift in [24, 16, 8, 0] { attribute.append(UInt8(truncatingIfNeeded: address >> UInt32(shift))) }
      try send(
        Self.request(
          RTM_GETROUTE, flags: 0, route: [UInt8(AF_INET), 32, 0, 0, 0, 0, 0, 0], flags: UInt32(RTM_F_FIB_MATCH),
          attribute))
      guard unsafe recv(socket, &buffer, buffer.count, 0) > 0 else { throw Failure("recv") }
    }
    return now() - begin
  }

  /// Returns the duration of a dump of all IPv4 routes.
  func dumpNanoseconds() throws -> Int64 {
    var buffer = [UInt8](repeating: 0, count: 1 << 17)
    let begin = now()
    try send(Self.request(RTM_GETROUTE, flags: Int32(NLM_F_DUMP), route: [UInt8(AF_INET), 0, 0, 0, 0, 0, 0, 0], []))
    while true {
      let count = unsafe recv(socket, &buffer, buffer.count, 0)
      guard count > 16 else { throw Failure("recv") }
      // NLMSG_DONE is a separate datagram, or the last message of one.
      if buffer[4] == 3 || hasEnd(buffer, count) { return now() - begin }
    }
  }

  private func hasEnd(_ buffer: [UInt8], _ count: Int) -> Bool {
    var position = 0
    while position + 16 <= count {
      if buffer[position + 4] == 3, buffer[position + 5] == 0 { return true }
      let length = Int(buffer[position]) | Int(buffer[position + 1]) << 8
      if length < 16 { return false }
      position += (length + 3) & ~3
    }
    return false
  }
}
