import Glibc
import TestSupport

/// A client of a NATS server that sends what no library would: any header block and any subject for the reply.
final class RawClient {
  private let descriptor: Int32
  private var received: [UInt8] = []
  /// What the server has refused.
  private(set) var refusals: [String] = []
  private(set) var isClosed = false

  /// Connects as a user; the address has four numbers.
  init(port: UInt16, user: String, in namespace: Namespace, address host: [UInt8] = [127, 0, 0, 1]) throws {
    descriptor = try namespace.run { () throws(TestError) in
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = port.bigEndian
      address.sin_addr.s_addr = host.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }.bigEndian
      let status = unsafe withUnsafePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
      guard descriptor >= 0, status == 0 else { throw TestError("no connection") }
      return descriptor
    }
    var limit = timeval(tv_sec: 5, tv_usec: 0)
    unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    _ = line()
    let options =
      #"{"user":"\#(user)","pass":"secret","verbose":false,"pedantic":false,"headers":true,"no_responders":true}"#
    send(Array("CONNECT \(options)\r\n".utf8))
  }

  deinit { close(descriptor) }

  /// Publishes a message, and waits until the server has processed it.
  func publish(_ subject: String, reply: String? = nil, _ payload: [UInt8], header: [UInt8]? = nil) {
    let words = ([header == nil ? "PUB" : "HPUB", subject, reply].compactMap(\.self)).joined(separator: " ")
    let sizes = header.map { "\($0.count) \($0.count + payload.count)" } ?? "\(payload.count)"
    send(Array("\(words) \(sizes)\r\n".utf8) + (header ?? []) + payload + Array("\r\n".utf8))
  }

  /// Publishes many messages without waiting for the server.
  func flood(_ subject: String, _ payload: [UInt8], reply: String, count: Int) {
    let message = Array("PUB \(subject) \(reply) \(payload.count)\r\n".utf8) + payload + Array("\r\n".utf8)
    let batch = Array(repeatElement(message, count: 16).joined())
    for _ in 0..<(count / 16) where !isClosed { write(batch) }
  }

  /// Subscribes; a refusal is in ``refusals``.
  func subscribe(_ subject: String, queue: String? = nil, number: Int = 9) {
    send(Array("SUB \([subject, queue].compactMap(\.self).joined(separator: " ")) \(number)\r\n".utf8))
  }

  /// Sends a command, and waits until the server has processed it.
  private func send(_ bytes: [UInt8]) {
    // In one segment, which the server does not wait for.
    write(bytes + Array("PING\r\n".utf8))
    while let line = line() {
      if line == "PONG" { return }
      if line == "PING" { write(Array("PONG\r\n".utf8)) }
      if line.hasPrefix("-ERR") { refusals.append(line) }
    }
    isClosed = true
  }

  private func write(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { bytes in
        unsafe Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return isClosed = true }
      rest = rest.dropFirst(count)
    }
  }

  private func line() -> String? {
    while true {
      if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
        defer { received.removeFirst(end + 1) }
        return String(decoding: received[..<end].filter { $0 != UInt8(ascii: "\r") }, as: UTF8.self)
      }
      var buffer = [UInt8](repeating: 0, count: 65_536)
      let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
      guard count > 0 else { return nil }
      received += buffer[..<count]
    }
  }
}
