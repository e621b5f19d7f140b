import Glibc
import TestSupport
import Testing

@testable import EventStreams
@testable import EmbeddedHTTPServer

@Suite("Unix-domain sockets")
struct UnixSocketTests {
  /// A directory of its own, removed with its last reference.
  private final class Directory {
    let path: String

    init() throws {
      var template = Array("/tmp/reachd-unix-XXXXXX\0".utf8.map { CChar(bitPattern: $0) })
      path = unsafe String(cString: try #require(unsafe mkdtemp(&template)))
    }

    deinit { _ = try? Child("/bin/rm", ["-rf", path]).wait() }

    var socket: String { path + "/r.sock" }

    var names: [String] {
      (try? Child("/bin/ls", ["-A", path])).map { child in
        _ = try? child.wait()
        return child.output.split(separator: "\n").map(String.init)
      } ?? []
    }
  }

  private let directory: Directory

  init() throws { directory = try Directory() }

  private func serve(mode: UInt32 = 0o600) throws -> HTTPServer {
    var configuration = HTTPServerConfiguration(address: ListenAddress(path: directory.socket))
    // For clients with addresses only: here one and all would be the same.
    configuration.connectionsPerAddress = 1
    configuration.socketMode = mode
    let server = HTTPServer(configuration: configuration) { request in
      let text = "\(request.peer) \(request.isUnixListener) \(request.isLoopbackListener)"
      return .now(HTTPResponse(body: .bytes(Array(text.utf8))))
    }
    try server.start()
    return server
  }

  private func ask() throws -> String {
    let curl = try Child("/bin/sh", ["-c", "exec curl -sS --unix-socket '\(directory.socket)' http://any.name/"])
    try curl.wait()
    return curl.output + curl.errors
  }

  @Test(
    "The socket has its mode, reports peers, is removed",
    arguments: [0o600, 0o666])
  func served(mode: UInt32) throws {
    let server = try serve(mode: mode)
    var facts = stat()
    #expect(unsafe lstat(directory.socket, &facts) == 0)
    #expect(facts.st_mode & S_IFMT == S_IFSOCK)
    #expect(facts.st_mode & 0o777 == mode)
    #expect(server.boundAddress.description == "unix:\(directory.socket)")
    #expect(try ask() == "unix:\(getuid()) true true")
    server.stop()
    #expect(directory.names.isEmpty)
  }

  @Test("Client data on a stream does not lose final bytes", arguments: [9, 700_000])
  func garrulous(bytes: Int) throws {
    let log = EventLog()
    let server = HTTPServer(
      configuration: .init(address: ListenAddress(path: directory.socket)), handler: Fixture.follow(log))
    try server.start()
    let client = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(client) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: Array(directory.socket.utf8)) }
    let connected = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe connect(client, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    try #require(connected == 0)
    let request = Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
    #expect(unsafe send(client, request, request.count, 0) == request.count)
    #expect(eventually { server.counters.streams == 1 })
    let words = [UInt8](repeating: 97, count: bytes)
    var sent = 0
    while sent < bytes {
      let count = unsafe words[sent...].withUnsafeBytes { unsafe send(client, $0.baseAddress, $0.count, 0) }
      try #require(count > 0)
      sent += count
    }
    var unread: Int32 = 0
    // What is on its way to the server is counted at the sender (unix(7), SIOCOUTQ).
    #expect(eventually { unsafe ioctl(client, UInt(TIOCOUTQ), &unread) == 0 && unread == 0 })
    server.endStreams(closeEvent: Array("bye\n".utf8))
    server.stop(grace: .seconds(20))
    var text: [UInt8] = []
    var room = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = unsafe recv(client, &room, room.count, 0)
      #expect(count >= 0, "no reset")
      guard count > 0 else { break }
      text += room.prefix(count)
    }
    #expect(String(decoding: text, as: UTF8.self).contains("bye\n"))
  }

  @Test("A second server is refused, the first continues")
  func second() throws {
    let first = try serve()
    #expect {
      try serve()
    } throws: {
      "\($0)".contains("another server answers there")
    }
    #expect(try ask().hasPrefix("unix:"))
    first.stop()
    try serve().stop()
  }

  @Test("A stale socket file is replaced")
  func stale() throws {
    let address = try #require(UnixSocketAddress(directory.socket))
    let left = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    #expect(unsafe address.withSockaddr { unsafe bind(left, $0, $1) } == 0)
    #expect(listen(left, 1) == 0)
    close(left)
    #expect(directory.names == ["r.sock"])
    let server = try serve()
    #expect(try ask().hasPrefix("unix:"))
    server.stop()
    #expect(directory.names.isEmpty)
  }

  @Test("One of many concurrent servers replaces a stale socket", arguments: 0..<10)
  func race(round: Int) throws {
    let address = try #require(UnixSocketAddress(directory.socket))
    let left = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    #expect(unsafe address.withSockaddr { unsafe bind(left, $0, $1) } == 0)
    close(left)
    let winners = Tally()
    let path = directory.socket
    let servers = (0..<8).map { _ in
      HTTPServer(configuration: .init(address: ListenAddress(path: path))) { _ in .now(HTTPResponse()) }
    }
    let waits = servers.map { server in
      onThread { if (try? server.start()) != nil { winners.add() } }
    }
    for wait in waits { wait() }
    #expect(winners.value == 1)
    for server in servers { server.stop() }
    #expect(directory.names.isEmpty)
  }

  @Test("A file that is no socket is kept")
  func file() throws {
    try Child("/bin/sh", ["-c", "echo precious > '\(directory.socket)'"]).wait()
    #expect {
      try serve()
    } throws: {
      "\($0)".contains("is not a socket")
    }
    #expect(directory.names == ["r.sock"])
  }

  @Test("Another server's socket file is not removed")
  func replaced() throws {
    let server = try serve()
    unsafe unlink(directory.socket)
    try Child("/bin/sh", ["-c", "echo precious > '\(directory.socket)'"]).wait()
    server.stop()
    #expect(directory.names == ["r.sock"])
  }

  @Test("A missing directory is reported")
  func noDirectory() throws {
    let server = HTTPServer(configuration: .init(address: ListenAddress(path: directory.path + "/no/r.sock"))) { _ in
      .now(HTTPResponse())
    }
    #expect {
      try server.bind()
    } throws: {
      "\($0)".contains("No such file")
    }
  }
}
