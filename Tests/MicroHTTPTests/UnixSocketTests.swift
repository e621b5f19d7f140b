import Glibc
import TestSupport
import Testing

@testable import MicroHTTP

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
    var configuration = HTTPServer.Configuration(address: ListenAddress(path: directory.socket))
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
    "It is served, with the mode that is asked for, tells who asks, and goes with the server",
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

  @Test("A second server is refused and the first goes on")
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

  @Test("What a killed server left behind is taken over")
  func stale() throws {
    let address = try #require(UnixAddress(directory.socket))
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

  @Test("Of many servers that find it at once, one gets it", arguments: 0..<10)
  func race(round: Int) throws {
    let address = try #require(UnixAddress(directory.socket))
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

  @Test("What is no socket is left alone")
  func file() throws {
    try Child("/bin/sh", ["-c", "echo precious > '\(directory.socket)'"]).wait()
    #expect {
      try serve()
    } throws: {
      "\($0)".contains("no socket")
    }
    #expect(directory.names == ["r.sock"])
  }

  @Test("Another server's file is not taken away")
  func replaced() throws {
    let server = try serve()
    unsafe unlink(directory.socket)
    try Child("/bin/sh", ["-c", "echo precious > '\(directory.socket)'"]).wait()
    server.stop()
    #expect(directory.names == ["r.sock"])
  }

  @Test("A directory that is not there is told")
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
