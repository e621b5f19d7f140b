import Glibc
import TestSupport
import Testing

extension Trait where Self == ConditionTrait {
  /// For suites that change the network: they do it in namespaces of their own.
  static var needsNamespaces: Self {
    .enabled(if: Namespace.isSupported, "needs network namespaces: run as root or under `unshare -Urn`")
  }
}

/// A machine with one interface `d0`, a data directory, and the programs that use it one after the other.
final class StoreFixture {
  let namespace: Namespace
  let data: TemporaryDirectory
  let runtime: TemporaryDirectory

  init() throws {
    namespace = try Namespace()
    data = try TemporaryDirectory()
    runtime = try TemporaryDirectory(in: "/dev/shm")
    try namespace.sysctl("net.ipv6.conf.default.disable_ipv6", 1)
    // The other end has another index; see VethPair.
    try namespace.ip("link add d0 type veth peer name d1")
    try namespace.ip(batch: ["link set d0 up", "link set d1 up"])
  }

  /// Starts the program and waits until it has read the kernel; its data directory is the fixture's unless another is
  /// given.
  func start(
    configuration: String? = nil, environment: [String: String] = [:], arguments: [String] = [],
    launcher: [String] = [], data directory: String? = nil
  ) throws -> StoreDaemon {
    try StoreDaemon(self, directory ?? data.path, configuration, environment, arguments, launcher)
  }

  /// How another process ends that is to use a directory.
  func launchSecond(_ directory: String) throws -> Child.End {
    try StoreDaemon.launch(self, directory).wait(within: .seconds(60))
  }

  /// The output of the `sqlite3` program for the store's database.
  func sqlite(_ statement: String, in directory: String? = nil) throws -> String {
    // From 3.42 on, the program is defensive by default: it refuses damage.
    let commands = [".output /dev/null", ".dbconfig defensive off", ".output stdout"].flatMap { ["-cmd", $0] }
    return try namespace.run("/usr/bin/sqlite3", commands + ["\(directory ?? data.path)/reachd.db", statement])
  }

  /// Makes the last run one of an earlier boot of the machine, as after a power failure.
  ///
  /// - Returns: whether the row of the run is left.
  @discardableResult
  func setEarlierBoot() throws -> Bool {
    let isLeft = try sqlite("SELECT count(*) FROM sqlite_schema WHERE name = 'run'") == "1\n"
    let runs = isLeft ? try sqlite("UPDATE run SET boot = 'earlier'; SELECT count(*) FROM run") : "0\n"
    for name in runtime.names { _ = unsafe unlink("\(runtime.path)/\(name)") }
    return runs != "0\n"
  }

  /// Overwrites bytes of the database file; the log must be empty.
  func overwrite(at offset: Int, with bytes: [UInt8]) throws {
    let descriptor = unsafe open("\(data.path)/reachd.db", O_WRONLY)
    guard descriptor >= 0 else { throw TestError("open: \(errno)") }
    defer { close(descriptor) }
    let written = unsafe bytes.withUnsafeBytes { unsafe pwrite(descriptor, $0.baseAddress, $0.count, off_t(offset)) }
    #expect(written == bytes.count)
  }

  /// Copies the log into the database file and empties it.
  func emptyLog(in directory: String? = nil) throws {
    _ = try sqlite("PRAGMA wal_checkpoint(TRUNCATE)", in: directory)
  }

  /// Changes the MTU of `d0` to one value after the other: about an event each.
  func changeMTU(_ values: some Sequence<Int>) throws {
    try namespace.ip(batch: values.map { "link set d0 mtu \($0)" })
  }

  /// Changes the MTU of `d0` to one value after the other, an event each: changes that are read together are one event.
  func change(_ daemon: StoreDaemon, _ values: ClosedRange<Int>) throws {
    for value in values {
      try changeMTU([value])
      #expect(try eventually { try mtu(daemon) == value })
    }
  }

  /// The last MTU of `d0` by `/interfaces`.
  func mtu(_ daemon: StoreDaemon) throws -> Int? {
    let list = try JSONValue(daemon.get("/interfaces").text)["interfaces"]?.elements ?? []
    return list.first { $0["name"]?.text == "d0" }?["mtu"]?.integer
  }
}

/// The built program with a data directory, inside a namespace; it is killed with its last reference.
final class StoreDaemon {
  let child: Child
  let port: UInt16
  private let namespace: Namespace

  init(
    _ fixture: StoreFixture, _ data: String, _ configuration: String?, _ environment: [String: String],
    _ arguments: [String], _ launcher: [String]
  ) throws {
    namespace = fixture.namespace
    child = try Self.launch(fixture, data, configuration, environment, arguments, launcher)
    let child = child
    guard eventually(within: .seconds(60), { Self.port(in: child.errors) != nil || child.poll() != nil }),
      let port = Self.port(in: child.errors)
    else { throw TestError("it does not listen: \(child.errors)") }
    self.port = port
    let isReady = try eventually(within: .seconds(60)) { try self.get("/readyz").status == 200 }
    guard isReady else { throw TestError("it does not become ready: \(child.errors)") }
  }

  deinit { child.kill() }

  /// Starts the program without waiting.
  static func launch(
    _ fixture: StoreFixture, _ data: String, _ configuration: String? = nil, _ environment: [String: String] = [:],
    _ arguments: [String] = [], _ launcher: [String] = []
  ) throws -> Child {
    var words = ["--pdeathsig", "KILL"] + launcher
    words += [program, "serve", "--listen", "127.0.0.1:0", "--drain-delay", "0s"]
    words += ["--data", data] + arguments
    if let configuration { words += ["--config", try fixture.data.write(configuration, as: "reachd.yaml")] }
    let variables = Program.bareEnvironment.merging(["REACHD_STORE_RUNTIME": fixture.runtime.path]) { $1 }
    return try fixture.namespace.spawn(
      "/usr/bin/setpriv", words, environment: variables.merging(environment) { $1 })
  }

  /// The program lies beside the tests' own.
  static let program: String = {
    var path = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe readlink("/proc/self/exe", &path, path.count)
    let own = String(decoding: path.prefix(max(count, 0)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return own.split(separator: "/").dropLast().map { "/" + $0 }.joined() + "/reachd"
  }()

  private static func port(in log: String) -> UInt16? {
    for line in log.split(separator: "\n", omittingEmptySubsequences: false).dropLast() where line.contains("listening")
    {
      let word = line.split(separator: " ").first { $0.hasPrefix("address=127.0.0.1:") }
      if let port = word?.split(separator: ":").last.flatMap({ UInt16($0) }), port != 0 { return port }
    }
    return nil
  }

  /// Sends one request over a connection of its own.
  func get(_ target: String, _ fields: [String: String] = [:]) throws(TestError) -> HTTPConnection.Answer {
    let connection = try HTTPConnection(port: port, in: namespace)
    try connection.get(target, ["Connection": "close"].merging(fields) { $1 })
    return try connection.answer()
  }

  /// Sends one request with a method and a body by curl; returns the body and the status.
  func send(_ method: String, _ target: String, _ body: String? = nil) throws -> (status: Int, text: String) {
    var words = ["-s", "-X", method, "-w", "\n%{http_code}", "http://127.0.0.1:\(port)\(target)"]
    if let body { words += ["-H", "Content-Type: application/json", "--data-binary", body] }
    let lines = try namespace.run("/usr/bin/curl", words).split(separator: "\n", omittingEmptySubsequences: false)
    return (Int(lines.last ?? "") ?? 0, lines.dropLast().joined(separator: "\n"))
  }

  /// The line of `/metrics` with the store's state.
  func state() throws -> String {
    let lines = try get("/metrics").text.split(separator: "\n")
    return lines.first { $0.hasPrefix("reachd_store_state{") && $0.hasSuffix(" 1") }.map(String.init) ?? ""
  }

  /// Opens a stream of events.
  func events(after id: String? = nil) throws(TestError) -> EventReader {
    let fields = id.map { ["Last-Event-ID": $0] } ?? [:]
    return try EventReader(try HTTPConnection(port: port, in: namespace), "/events", fields)
  }

  /// Ends it by SIGTERM.
  func terminate() throws {
    child.kill(SIGTERM)
    #expect(try child.wait(within: .seconds(60)) == .exited(0), "\(child.errors)")
  }
}
