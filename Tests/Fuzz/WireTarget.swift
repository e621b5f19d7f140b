import CFuzzer
import Glibc

@testable import EmbeddedHTTPServer

/// Bytes on a connection to a real server: it answers with whole heads or hangs up, and lives on.
enum WireTarget {
  private static let server: HTTPServer = {
    var configuration = HTTPServerConfiguration(address: ListenAddress(host: "127.0.0.1", port: 0))
    configuration.requestBodyLimit = 1_000
    // An end that comes together with half of a head may be seen only when this is over.
    configuration.requestHeadTime = .milliseconds(500)
    let server = HTTPServer(configuration: configuration) { request in
      precondition(request.headers.values(for: "Content-Length").count <= 1, "two lengths are no request")
      precondition(request.headers.values(for: "Transfer-Encoding").isEmpty || request.headers["Content-Length"] == nil)
      precondition(request.path == "*" || request.path.hasPrefix("/"), "a path begins at the root")
      precondition(request.body.count <= 1_000, "a body has its limit")
      return .now(HTTPResponse(body: .bytes(Array("ok".utf8))))
    }
    do { try server.start() } catch { preconditionFailure("\(error)") }
    return server
  }()

  /// Starts the server unless it runs, and has it answer a request.
  static func start() {
    let good = exchange(Array("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".utf8))
    precondition(good.starts(with: "HTTP/1.1 200 ".utf8), "the server serves")
  }

  static func play(_ bytes: [UInt8]) {
    let before = exchange(bytes)
    precondition(before.isEmpty || before.starts(with: "HTTP/1.".utf8), "an answer begins with its status")
    start()
  }

  /// Everything that comes for these bytes and nothing more.
  private static func exchange(_ bytes: [UInt8]) -> [UInt8] {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = server.boundAddress.port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let isConnected = withUnsafeBytes(of: &address) { raw in
      raw.withMemoryRebound(to: sockaddr.self) { connect(descriptor, $0.baseAddress, socklen_t(raw.count)) }
    }
    precondition(isConnected == 0, "the server listens")
    // A reset instead of a FIN at the end, or the ports run out.
    var option = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    _ = bytes.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    shutdown(descriptor, Int32(SHUT_WR))
    var answer: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      var ready = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      var count = poll(&ready, 1, 20_000)
      // The fuzzer's own alarm.
      while count < 0, errno == EINTR { count = poll(&ready, 1, 20_000) }
      precondition(count == 1, "a connection whose client has ended ends")
      let received = recv(descriptor, &buffer, buffer.count, 0)
      guard received > 0 else { return answer }
      answer += buffer[..<received]
    }
  }
}
