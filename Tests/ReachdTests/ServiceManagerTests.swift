import Glibc
import Probers
import StatusClient
import TestSupport
import Testing

/// What a service manager, a container engine and a careful administrator expect of the running program.
@Suite struct ServiceManagerTests {
  private func status(_ url: String) throws -> Int {
    try HTTPClient.get(url: url, timeout: .seconds(20), maximumBody: 1 << 20).status
  }

  @Test func readyAndStoppingAreNotified() throws {
    let address = "@reachd-manager-\(getpid())"
    let manager = try NotifySocket(address)
    let service = try RunningService(environment: ["NOTIFY_SOCKET": address])
    #expect(manager.next() == "READY=1\nSTATUS=Serving.")
    #expect(try status(service.url + "/readyz") == 200)
    #expect(try service.terminate() == .exited(0))
    #expect(manager.next() == "STOPPING=1\nEXTEND_TIMEOUT_USEC=15000000\nSTATUS=Draining.")
  }

  @Test("READY=1 follows the first state, also when it is committed first")
  func readyAfterTheFirstCommit() throws {
    // The commit takes about as long as the first request; twenty starts show a wrong order.
    for number in 0..<20 {
      let directory = try TemporaryDirectory()
      let address = "@reachd-ready-\(getpid())-\(number)"
      let manager = try NotifySocket(address)
      let service = try RunningService(
        ["--drain-delay", "0s", "--data", directory.path], environment: ["NOTIFY_SOCKET": address])
      #expect(manager.next() == "READY=1\nSTATUS=Serving.")
      #expect(try status(service.url + "/readyz") == 200)
    }
  }

  @Test func watchdogHeartbeatsAreSent() throws {
    let address = "@reachd-watchdog-\(getpid())"
    let manager = try NotifySocket(address)
    let service = try RunningService(environment: ["NOTIFY_SOCKET": address, "WATCHDOG_USEC": "200000"])
    var signs = 0
    while signs < 5, let message = manager.next() { signs += message == "WATCHDOG=1" ? 1 : 0 }
    #expect(signs == 5)
    #expect(!service.child.errors.contains("event loop stuck"))
  }

  @Test(arguments: [[:], ["REACHD_NONSENSE": "1"]])
  func everyThreadDropsItsCapabilities(environment: [String: String]) throws {
    // A warning is logged before privileges are dropped.
    let service = try RunningService(environment: environment)
    #expect(eventually { service.child.errors.contains("REACHD_NONSENSE") == !environment.isEmpty })
    #expect(eventually { service.child.errors.contains(" privileges capabilities=0x0 noNewPrivileges=true user=") })
    let script = "cat /proc/\(service.child.id)/task/*/status | grep -E '^(Cap(Inh|Prm|Eff|Amb)|NoNewPrivs)' | sort -u"
    let (end, output, _) = try Program.shell(script)
    #expect(end == .exited(0))
    let none = ["CapAmb", "CapEff", "CapInh", "CapPrm"].map { $0 + ":\t0000000000000000\n" }.joined()
    #expect(output == none + "NoNewPrivs:\t1\n")
  }

  @Test func inheritedSocketReplacesTheListenSetting() throws {
    let (descriptor, port) = try Self.listener()
    let child = try Self.activated(descriptor)
    close(descriptor)
    #expect(eventually { child.errors.contains(" listening address=127.0.0.1:\(port) tls=false\n") })
    #expect(try status("http://127.0.0.1:\(port)/livez") == 200)
    #expect(!child.errors.contains("127.0.0.1:1 "))
    child.kill(15)
    #expect(try child.wait() == .exited(0))
  }

  /// systemd starts the service because of a connection, so that its request is there first.
  @Test(arguments: [false, true])
  func requestBeforeTheStartIsAnsweredWithAVerdict(hasData: Bool) throws {
    for _ in 0..<5 {
      let directory = try TemporaryDirectory()
      let (descriptor, port) = try Self.listener()
      let client = try Self.request("GET /status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", port)
      defer { close(client) }
      let child = try Self.activated(descriptor, hasData ? "--data \(directory.path)" : "")
      close(descriptor)
      let response = Self.response(client)
      #expect(response.contains("200 OK"))
      #expect(!response.contains("\"starting\""), "\(response)")
      child.kill(15)
      #expect(try child.wait() == .exited(0))
    }
  }

  @Test func inheritedSocketsUseTheRulesOfTheirAddress() throws {
    let path = "/tmp/reachd-manager-\(getpid()).sock"
    let file = try TemporaryFile(
      """
      listen: [{ address: "unix:\(path)", reads: token }]
      tokens: [{ id: a, sha256: "\(String(repeating: "ab", count: 32))", scopes: [read] }]
      """)
    defer { withExtendedLifetime(file) { _ = unsafe unlink(path) } }
    let (descriptor, port) = try Self.listener()
    let local = try Self.localListener(path)
    let service = "reachd serve --config \(file.path) --drain-delay 0s"
    let line = "exec 3<&\(descriptor) 4<&\(local) && LISTEN_PID=$$ exec \(service)"
    let child = try Child("/bin/bash", ["-c", line], environment: Program.environment(["LISTEN_FDS": "2"]))
    close(descriptor)
    close(local)
    #expect(eventually { child.errors.contains(" listening address=unix:\(path) tls=false\n") })
    #expect(try status("http://127.0.0.1:\(port)/status") == 200)
    func answer(_ target: String) throws -> Int {
      try HTTPClient.get(
        url: "http://any\(target)", timeout: .seconds(20), maximumBody: 1 << 20, unixSocket: path
      ).status
    }
    #expect(try answer("/livez") == 200)
    #expect(try answer("/status") == 401)
    child.kill(15)
    #expect(try child.wait() == .exited(0))
    #expect(unsafe access(path, F_OK) == 0, "its owner removes the file")
  }

  @Test func rulesWithoutAnInheritedSocketAreAnError() throws {
    let file = try TemporaryFile(
      """
      listen: [{ address: "127.0.0.1:1", reads: token }]
      tokens: [{ id: a, sha256: "\(String(repeating: "ab", count: 32))", scopes: [read] }]
      """)
    defer { withExtendedLifetime(file) {} }
    let (descriptor, port) = try Self.listener()
    let line = "exec 3<&\(descriptor) && LISTEN_PID=$$ exec reachd serve --config \(file.path)"
    let child = try Child("/bin/bash", ["-c", line], environment: Program.environment(["LISTEN_FDS": "1"]))
    close(descriptor)
    #expect(try child.wait() == .exited(78))
    #expect(child.errors.contains("sockets omit 127.0.0.1:1, for which the file has rules; name"))
    #expect(child.errors.contains("127.0.0.1:\(port)\n"))
  }

  /// A listening Unix-domain socket that children inherit.
  private static func localListener(_ path: String) throws -> Int32 {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: Array(path.utf8)) }
    let code = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0 && listen(descriptor, 16) == 0
      }
    }
    guard code else { throw TestError("no listening socket: \(errno)") }
    return descriptor
  }

  @Test func nonListeningSocketIsRejected() throws {
    let null = unsafe open("/dev/null", O_RDONLY)
    defer { close(null) }
    let child = try Self.activated(null)
    #expect(try child.wait() == .exited(69))
    #expect(child.errors.contains("inherited descriptor 3"))
  }

  /// Starts the program as systemd does: with the socket as descriptor 3 and its own process id.
  private static func activated(_ descriptor: Int32, _ options: String = "") throws -> Child {
    let line =
      "exec 3<&\(descriptor) && LISTEN_PID=$$ exec reachd serve --listen 127.0.0.1:1 --drain-delay 0s \(options)"
    return try Child("/bin/bash", ["-c", line], environment: Program.environment(["LISTEN_FDS": "1"]))
  }

  /// Connects to a port and sends a request; returns the connection.
  private static func request(_ text: String, _ port: UInt16) throws -> Int32 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    address.sin_port = port.bigEndian
    let code = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard code == 0, unsafe write(descriptor, text, text.utf8.count) == text.utf8.count else {
      throw TestError("no connection: \(errno)")
    }
    return descriptor
  }

  /// What a connection receives until the server closes it.
  private static func response(_ descriptor: Int32) -> String {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while case let count = unsafe read(descriptor, &buffer, buffer.count), count > 0 { bytes += buffer.prefix(count) }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// A listening socket that children inherit, and its port.
  private static func listener() throws -> (descriptor: Int32, port: UInt16) {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let code = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(descriptor, $0, size) == 0 && listen(descriptor, 16) == 0 && getsockname(descriptor, $0, &size) == 0
      }
    }
    guard code else { throw TestError("no listening socket: \(errno)") }
    return (descriptor, UInt16(bigEndian: address.sin_port))
  }
}
