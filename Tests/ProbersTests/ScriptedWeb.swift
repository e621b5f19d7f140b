import Glibc
import Locks
import TestSupport

/// A web server that gives each path the bytes that its script has for it, and remembers what it was asked.
final class ScriptedWeb: Sendable {
  /// What was received on one connection.
  struct Request: Sendable {
    let head: String
    let body: String

    /// `POST /path`.
    var line: String { head.split(separator: " ").prefix(2).joined(separator: " ") }

    func has(field: String) -> Bool { head.lowercased().contains("\r\n\(field.lowercased()):") }
  }

  private final class Log: Sendable {
    let requests = Locked<[Request]>([])
  }

  private let server: TCPServer
  private let log: Log

  var port: UInt16 { server.port }
  var requests: [Request] { log.requests.withLock(\.self) }

  /// `keepsOpen`: the connection stays after the answer, until the peer closes it.
  init(host: UInt8 = 1, port: UInt16 = 0, keepsOpen: Bool = false, _ answers: [String: String]) throws {
    let log = Log()
    self.log = log
    server = try TCPServer(host: host, port: port) { peer in
      guard let request = Self.request(from: peer) else { return }
      log.requests.withLock { $0.append(request) }
      let path = request.line.split(separator: " ").last.map(String.init) ?? ""
      let answer = answers[path] ?? "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
      Loopback.send(Array(answer.utf8), to: peer)
      if keepsOpen { TCPServer.untilClosed(peer) }
    }
  }

  /// A redirect.
  static func redirect(_ status: Int, _ location: String) -> String {
    "HTTP/1.1 \(status) Elsewhere\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n"
  }

  static let well = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nwell"

  private static func request(from peer: Int32) -> Request? {
    var text = ""
    var end: Range<String.Index>?
    while end == nil {
      let bytes = Loopback.receive(4_096, from: peer)
      if bytes.isEmpty { return nil }
      text += String(decoding: bytes, as: UTF8.self)
      end = text.firstRange(of: "\r\n\r\n")
    }
    guard let end else { return nil }
    let head = String(text[..<end.lowerBound])
    var body = String(text[end.upperBound...])
    while body.utf8.count < length(head) {
      let bytes = Loopback.receive(4_096, from: peer)
      if bytes.isEmpty { break }
      body += String(decoding: bytes, as: UTF8.self)
    }
    return Request(head: head, body: body)
  }

  private static func length(_ head: String) -> Int {
    let name = "content-length: "
    let line = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix(name) }
    return line.flatMap { Int($0.dropFirst(name.utf8.count)) } ?? 0
  }
}
