import Glibc
import Probers
import ReachabilityModel
import TestSupport
import Testing

/// Servers that answer and never close the connection: each check must release its descriptor.
@Suite("Connections that servers do not close") struct UnclosedConnectionTests {
  /// Answers each request, and keeps the connection without reading from it.
  private static let script = """
    import socket, ssl, sys, threading
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[1], sys.argv[2])
    if sys.argv[3] == "1.2": context.maximum_version = ssl.TLSVersion.TLSv1_2
    listener = socket.create_server(("127.0.0.1", 0), backlog=100)
    print(listener.getsockname()[1], flush=True)
    kept = []
    def serve(peer):
        if sys.argv[3]: peer = context.wrap_socket(peer, server_side=True)
        kept.append(peer)
        peer.recv(4096)
        peer.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nok" + sys.argv[4].encode())
    while True: threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
    """

  private static var openFiles: Int { Namespace.openFileCount() }

  @Test(arguments: [("1.3", ""), ("1.2", ""), ("", ""), ("1.3", "more than announced"), ("", "more than announced")])
  func checksReleaseTheirDescriptors(version: String, rest: String) async throws {
    let authority = try TestAuthority()
    let files = try authority.issue("server")
    let server = try Child("/usr/bin/python3", ["-c", Self.script, files.certificate, files.key, version, rest])
    #expect(eventually { server.output.contains("\n") || server.poll() != nil }, "\(server.errors)")
    let port = try #require(Int(server.output.filter(\.isNumber)), "\(server.errors)")
    var options = HTTPOptions()
    options.tls.authorityFile = authority.certificate
    let prober = ProberUnderTest()
    let url = "\(version.isEmpty ? "http" : "https")://127.0.0.1:\(port)/"
    // The prober's thread and what it keeps.
    #expect(try await prober.check(url, .http(options)).state == .up)
    let before = Self.openFiles
    for _ in 0..<100 { #expect(try await prober.check(url, .http(options)).state == .up) }
    // Without another check: an idle prober keeps none.
    #expect(await eventually { () async in Self.openFiles <= before }, "\(before) before, \(Self.openFiles) now")
  }
}
