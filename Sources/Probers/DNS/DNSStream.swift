internal import CAres
internal import CSockets
internal import Glibc
internal import ReachabilityModel

/// A query and its response over TCP: a length precedes each message (RFC 1035 §4.2.2).
struct DNSStream {
  enum Progress {
    case waiting
    case message([UInt8])
    /// The connection ended before the response was complete.
    case broken
  }

  private var unsent: ArraySlice<UInt8> = []
  private var received: [UInt8] = []

  init() {}

  init(sending query: [UInt8]) {
    unsent = ([UInt8(query.count >> 8), UInt8(query.count & 0xFF)] + query)[...]
  }

  /// Sends and receives as much as the socket allows.
  mutating func advance(_ descriptor: Int32) -> Progress {
    while !unsent.isEmpty {
      let sent = unsafe unsent.withUnsafeBytes {
        unsafe send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      if sent < 0, errno == EAGAIN { break }
      if sent < 0 { return .broken }
      unsent = unsent.dropFirst(sent)
    }
    while true {
      switch ProberReadBuffer.read(descriptor) {
      case .nothing: return .waiting
      case .end, .failed: return .broken
      case .bytes(let bytes):
        received += bytes
        guard let length = DNSPacket.number(received, 0), received.count >= Int(length) + 2 else { continue }
        return .message(Array(received.dropFirst(2).prefix(Int(length))))
      }
    }
  }

  /// The message of a query; nil if its name cannot be encoded.
  static func query(_ question: DNSQuestion?, _ options: DNSOptions) -> [UInt8]? {
    guard let question else { return nil }
    var buffer: UnsafeMutablePointer<UInt8>?
    var length: Int32 = 0
    let name = question.name.isEmpty ? "." : question.name
    let code = unsafe cares_create_query(
      name, Int32(question.type.rawValue), UInt16.random(in: 0...UInt16.max), options.recursion ? 1 : 0, &buffer,
      &length)
    guard code == cares_success, let buffer = unsafe buffer else { return nil }
    defer { unsafe ares_free_string(buffer) }
    return unsafe Array(UnsafeBufferPointer(start: buffer, count: Int(length)))
  }
}
