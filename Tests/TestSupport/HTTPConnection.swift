internal import CNetlink
internal import Glibc

/// A client's TCP connection to 127.0.0.1 inside a namespace, speaking just enough HTTP/1.1 to read any answer.
///
/// Bare on purpose: nothing is retried, decoded or hidden. It is for one thread at a time.
public final class HTTPConnection {
  /// Status and headers of an answer, names in lower case.
  public struct Head: Sendable {
    /// The status code.
    public let status: Int
    /// The header fields.
    public let fields: [String: String]
  }

  /// A whole answer.
  public struct Answer: Sendable {
    /// Status and headers.
    public let head: Head
    /// The body.
    public let body: [UInt8]
    /// The status code.
    public var status: Int { head.status }
    /// The body as text.
    public var text: String { String(decoding: body, as: UTF8.self) }
    /// The body as JSON.
    public var json: JSONValue { get throws(TestError) { try JSONValue(bytes: body) } }
  }

  private let descriptor: Int32
  private var buffer: [UInt8] = []
  private var isAtEnd = false
  private var isChunked = false
  /// Body bytes that are still to come; nil when only the end of the connection tells.
  private var remaining: Int?

  /// Connects.
  ///
  /// - Throws: a ``TestError`` when no server listens there.
  public init(port: UInt16, in namespace: Namespace) throws(TestError) {
    descriptor = try namespace.run { () throws(TestError) in
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
      guard descriptor >= 0 else { throw .system("socket") }
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = port.bigEndian
      address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
      let code = unsafe withUnsafeBytes(of: &address) { raw in
        unsafe raw.withMemoryRebound(to: sockaddr.self) {
          unsafe connect(descriptor, $0.baseAddress, socklen_t(raw.count))
        }
      }
      guard code == 0 else {
        defer { close(descriptor) }
        throw .system("connect to port \(port)")
      }
      return descriptor
    }
  }

  deinit { close(descriptor) }

  /// Sends a GET.
  public func get(_ target: String, _ fields: [String: String] = [:]) throws(TestError) {
    let lines = ["GET \(target) HTTP/1.1", "Host: 127.0.0.1"] + fields.map { "\($0.key): \($0.value)" }
    let bytes = Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    let sent = unsafe bytes.withUnsafeBytes {
      unsafe send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
    }
    guard sent == bytes.count else { throw .system("send") }
  }

  /// Reads status and headers; the body follows.
  public func head(within deadline: Duration = .seconds(20)) throws(TestError) -> Head {
    let limit = ContinuousClock.now + deadline
    let lines = try line(upTo: "\r\n\r\n", limit).split(separator: "\r\n")
    let words = (lines.first ?? "").split(separator: " ")
    guard words.count >= 2, words[0].hasPrefix("HTTP/1."), let status = Int(words[1]) else {
      throw TestError("no status line: \(lines)")
    }
    var fields: [String: String] = [:]
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { throw TestError("no header field: \(line)") }
      let value = line[line.index(after: colon)...].drop { $0 == " " }
      fields[line[..<colon].lowercased()] = String(value)
    }
    isChunked = fields["transfer-encoding"]?.lowercased() == "chunked"
    remaining = fields["content-length"].flatMap { Int($0) }
    return Head(status: status, fields: fields)
  }

  /// Reads some more of the body.
  ///
  /// - Returns: at least one byte; nil at the body's end.
  public func piece(within deadline: Duration = .seconds(20)) throws(TestError) -> [UInt8]? {
    let limit = ContinuousClock.now + deadline
    if isChunked {
      let size = try line(upTo: "\r\n", limit)
      guard let count = Int(size, radix: 16) else { throw TestError("no chunk size: \(size)") }
      while buffer.count < count + 2 { try fill(limit) }
      defer { buffer.removeFirst(count + 2) }
      return count == 0 ? nil : Array(buffer[..<count])
    }
    guard remaining != 0 else { return nil }
    if buffer.isEmpty, !isAtEnd { try fill(limit, mayEnd: remaining == nil) }
    guard !buffer.isEmpty else { return nil }
    let piece = Array(buffer.prefix(remaining ?? buffer.count))
    buffer.removeFirst(piece.count)
    remaining = remaining.map { $0 - piece.count }
    return piece
  }

  /// Reads a whole answer.
  public func answer(within deadline: Duration = .seconds(20)) throws(TestError) -> Answer {
    let head = try head(within: deadline)
    var body: [UInt8] = []
    while let piece = try piece(within: deadline) { body += piece }
    return Answer(head: head, body: body)
  }

  /// Takes what stands before `end` and drops both.
  private func line(upTo end: String, _ limit: ContinuousClock.Instant) throws(TestError) -> String {
    let mark = Array(end.utf8)
    var searched = 0
    while true {
      if let range = buffer[searched...].firstRange(of: mark) {
        defer { buffer.removeFirst(range.upperBound) }
        return String(decoding: buffer[..<range.lowerBound], as: UTF8.self)
      }
      searched = max(0, buffer.count - mark.count + 1)
      try fill(limit)
    }
  }

  private func fill(_ limit: ContinuousClock.Instant, mayEnd: Bool = false) throws(TestError) {
    while true {
      var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard unsafe poll(&waiting, 1, 50) > 0 else {
        guard ContinuousClock.now < limit else { throw TestError("nothing came until the deadline") }
        continue
      }
      var chunk = [UInt8](repeating: 0, count: 65536)
      let count = unsafe recv(descriptor, &chunk, chunk.count, 0)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw .system("recv") }
      if count == 0 {
        isAtEnd = true
        guard mayEnd else { throw TestError("the connection ended early") }
      }
      buffer += chunk[..<count]
      return
    }
  }
}
