import Glibc

@testable import EmbeddedHTTPServer

/// A TCP client that sends exactly the bytes it is told to.
final class RawClient {
  let descriptor: Int32
  private(set) var received: [UInt8] = []
  private(set) var isClosed = false
  private var ownsDescriptor = true
  private var isChunked = false
  /// Body bytes of a chunked stream that were not taken yet.
  private var unchunked: [UInt8] = []

  /// Waiting ends here when the server is broken; nothing is asserted about time.
  static let deadline: Int32 = 20_000

  struct Failure: Error, CustomStringConvertible {
    var description: String
  }

  struct Response {
    var status: Int
    var head: String
    var body: [UInt8]
    var text: String { String(decoding: body, as: UTF8.self) }

    func header(_ name: String) -> String? {
      for line in head.split(separator: "\r\n").dropFirst() {
        guard let colon = line.firstIndex(of: ":"), line[..<colon].lowercased() == name.lowercased() else { continue }
        return String(line[line.index(after: colon)...]).trimmed
      }
      return nil
    }
  }

  init(_ address: ListenAddress, receiveBuffer: Int32? = nil) throws {
    guard let target = ListenSocketAddress(host: address.host, port: address.port) else {
      throw Failure(description: "no address")
    }
    descriptor = socket(target.family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    if let receiveBuffer { ListeningSocket.set(descriptor, SOL_SOCKET, SO_RCVBUF, receiveBuffer) }
    ListeningSocket.set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
    guard unsafe target.withSockaddr({ unsafe connect(descriptor, $0, $1) }) == 0 else {
      let code = errno
      Glibc.close(descriptor)
      ownsDescriptor = false
      throw Failure(description: "connect: \(code)")
    }
  }

  deinit { close() }

  func close() {
    if ownsDescriptor { Glibc.close(descriptor) }
    ownsDescriptor = false
  }

  /// Closes with a reset instead of a FIN.
  func reset() {
    var option = linger(l_onoff: 1, l_linger: 0)
    unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    close()
  }

  func send(_ text: String) { send(Array(text.utf8)) }

  /// Sends what the peer takes; a closed peer takes nothing, which the answer will show.
  func send(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { buffer in
        unsafe Glibc.send(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }

  /// Receives once; false when the peer has closed.
  @discardableResult
  func receive() throws -> Bool {
    guard !isClosed else { return false }
    var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard unsafe poll(&ready, 1, Self.deadline) == 1 else {
      throw Failure(description: "nothing came; so far: \(String(decoding: received.suffix(300), as: UTF8.self))")
    }
    let part = unsafe withUnsafeTemporaryAllocation(byteCount: 65536, alignment: 1) { buffer -> [UInt8] in
      let count = unsafe recv(descriptor, buffer.baseAddress, buffer.count, 0)
      return count > 0 ? unsafe Array(buffer[..<count]) : []
    }
    received += part
    isClosed = part.isEmpty
    return !isClosed
  }

  /// Waits until the peer closes and returns everything that was not taken yet.
  func receiveAll() throws -> String {
    while try receive() {}
    defer { received = [] }
    return String(decoding: received, as: UTF8.self)
  }

  /// Waits until `text` has come and takes everything up to its end.
  @discardableResult
  func receive(until text: String) throws -> String {
    let wanted = Array(text.utf8)
    var from = 0
    while true {
      if let found = received.firstRange(of: wanted, from: from) {
        let taken = received[..<(found + wanted.count)]
        received.removeFirst(found + wanted.count)
        return String(decoding: taken, as: UTF8.self)
      }
      from = max(0, received.count - wanted.count)
      guard try receive() else {
        throw Failure(description: "closed after: \(String(decoding: received.suffix(300), as: UTF8.self))")
      }
    }
  }

  func take(_ count: Int) throws -> [UInt8] {
    while received.count < count {
      guard try receive() else { throw Failure(description: "closed with \(received.count) of \(count) bytes") }
    }
    defer { received.removeFirst(count) }
    return Array(received[..<count])
  }

  /// Takes one response; `hasBody` is false for an answer to HEAD.
  func response(hasBody: Bool = true) throws -> Response {
    let head = try receive(until: "\r\n\r\n")
    guard let status = head.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
      throw Failure(description: "no status: \(head)")
    }
    var response = Response(status: status, head: head, body: [])
    guard hasBody, status != 204, status != 304, status >= 200 else { return response }
    if response.header("Transfer-Encoding") == "chunked" {
      while case let chunk = try chunk(), !chunk.isEmpty { response.body += chunk }
    } else if let length = response.header("Content-Length").flatMap({ Int($0) }) {
      response.body = try take(length)
    } else {
      response.body = Array(try receiveAll().utf8)
    }
    return response
  }

  /// Takes one chunk of a chunked body; empty for the last.
  func chunk() throws -> [UInt8] {
    let line = try receive(until: "\r\n").trimmed
    guard let size = Int(line, radix: 16) else { throw Failure(description: "no chunk size: \(line)") }
    let bytes = try take(size)
    _ = try take(2)
    return bytes
  }

  // MARK: - Streams

  /// Takes the head of a stream and notes how its body is framed.
  @discardableResult
  func head() throws -> String {
    let head = try receive(until: "\r\n\r\n")
    isChunked = head.lowercased().contains("transfer-encoding: chunked")
    return head
  }

  /// Takes the body of a stream up to the end of `text`, whatever its framing.
  @discardableResult
  func body(until text: String) throws -> String {
    guard isChunked else { return try receive(until: text) }
    var from = 0
    while true {
      if let found = unchunked.firstRange(of: Array(text.utf8), from: from) {
        defer { unchunked.removeFirst(found + text.utf8.count) }
        return String(decoding: unchunked[..<(found + text.utf8.count)], as: UTF8.self)
      }
      let next = try chunk()
      guard !next.isEmpty else { throw Failure(description: "ended after \(unchunked.count) bytes") }
      from = max(0, unchunked.count - text.utf8.count)
      unchunked += next
    }
  }

  /// Takes the rest of a stream's body, to its proper end.
  func rest() throws -> String {
    guard isChunked else { return try receiveAll() }
    while case let next = try chunk(), !next.isEmpty { unchunked += next }
    defer { unchunked = [] }
    return String(decoding: unchunked, as: UTF8.self)
  }
}

extension String {
  var trimmed: String {
    var rest = self[...]
    while let last = rest.last, last.isWhitespace { rest.removeLast() }
    return String(rest.drop(while: \.isWhitespace))
  }
}

extension [UInt8] {
  /// The offset of the first occurrence of `pattern` at or after `from`.
  func firstRange(of pattern: [UInt8], from: Int) -> Int? {
    guard !pattern.isEmpty, count >= pattern.count, from <= count - pattern.count else { return nil }
    for start in from...(count - pattern.count) where self[start] == pattern[0] {
      if self[start..<start + pattern.count].elementsEqual(pattern) { return start }
    }
    return nil
  }
}
