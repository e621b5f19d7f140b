import Glibc
import TestSupport
import Testing

extension Trait where Self == ConditionTrait {
  /// For suites that change the network: they do it in namespaces of their own.
  static var needsNamespaces: Self {
    .enabled(if: Namespace.isSupported, "needs network namespaces: run as root or under `unshare -Urn`")
  }
}

/// The built program, serving inside a namespace.
///
/// It is killed with its last reference.
final class DaemonUnderTest: Sendable {
  /// With which privileges the program runs.
  enum Privileges {
    /// Ours.
    case all
    /// None, as the user `nobody` where this process may change its user.
    case none
  }

  let namespace: Namespace
  let child: Child
  let port: UInt16

  /// Starts it and waits until it has read the kernel.
  init(
    in namespace: Namespace, settle: String = "10ms", drainDelay: String = "0s", privileges: Privileges = .all,
    configuration: String? = nil, environment extra: [String: String] = [:]
  ) throws {
    self.namespace = namespace
    let file = try configuration.map { try TemporaryFile($0) }
    let words =
      [Self.program, "serve", "--listen", "127.0.0.1:0", "--settle", settle, "--drain-delay", drainDelay]
      + (file.map { ["--config", $0.path] } ?? [])
    let launch = Self.launcher(privileges) + words
    // No setting of the tests' own surroundings may leak into it.
    child = try namespace.spawn(
      launch[0], Array(launch.dropFirst()), environment: Program.bareEnvironment.merging(extra) { $1 })
    let (namespace, child) = (namespace, child)
    eventually { Self.port(in: child.errors) != nil || child.poll() != nil }
    guard let port = Self.port(in: child.errors) else { throw TestError("it does not listen: \(child.errors)") }
    self.port = port
    guard try eventually({ try Self.get("/readyz", port, namespace).status == 200 }) else {
      throw TestError("it does not become ready: \(child.errors)")
    }
  }

  deinit { child.kill() }

  /// The program lies beside the tests' own.
  static let program: String = {
    var path = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe readlink("/proc/self/exe", &path, path.count)
    let own = String(decoding: path.prefix(max(count, 0)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return own.split(separator: "/").dropLast().map { "/" + $0 }.joined() + "/reachd"
  }()

  /// The kernel ends the program when the thread that started it does, even if the tests crash.
  private static func launcher(_ privileges: Privileges) -> [String] {
    let setpriv = "/usr/bin/setpriv"
    guard unsafe access(setpriv, X_OK) == 0 else { return [] }
    switch privileges {
    case .all: return [setpriv, "--pdeathsig", "KILL"]
    case .none:
      let identity = canChangeUser ? ["--reuid", "65534", "--regid", "65534", "--clear-groups"] : []
      return [setpriv, "--pdeathsig", "KILL"] + identity
        + ["--bounding-set", "-all", "--inh-caps", "-all", "--ambient-caps", "-all", "--no-new-privs"]
    }
  }

  /// Whether the program can be started without privileges.
  static let canDropPrivileges: Bool = unsafe access("/usr/bin/setpriv", X_OK) == 0 && geteuid() == 0

  /// A user namespace with one user has no user `nobody`.
  private static let canChangeUser: Bool = {
    let child = try? Child("/usr/bin/setpriv", ["--reuid", "65534", "--clear-groups", "/usr/bin/test", "-x", program])
    return (try? child?.wait()) == .exited(0)
  }()

  private static func port(in log: String) -> UInt16? {
    for line in log.split(separator: "\n", omittingEmptySubsequences: false).dropLast() where line.contains("listening")
    {
      let word = line.split(separator: " ").first { $0.hasPrefix("address=127.0.0.1:") }
      if let port = word?.split(separator: ":").last.flatMap({ UInt16($0) }), port != 0 { return port }
    }
    return nil
  }

  private static func get(
    _ target: String, _ port: UInt16, _ namespace: Namespace, _ fields: [String: String] = [:]
  ) throws(TestError) -> HTTPConnection.Answer {
    let connection = try HTTPConnection(port: port, in: namespace)
    try connection.get(target, ["Connection": "close"].merging(fields) { $1 })
    return try connection.answer()
  }

  /// Asks once, over a connection of its own.
  func get(_ target: String, _ fields: [String: String] = [:]) throws(TestError) -> HTTPConnection.Answer {
    try Self.get(target, port, namespace, fields)
  }

  /// Opens a stream of events.
  func events(_ parameters: String = "", after id: String? = nil) throws(TestError) -> EventReader {
    let fields = id.map { ["Last-Event-ID": $0] } ?? [:]
    return try EventReader(try HTTPConnection(port: port, in: namespace), "/events" + parameters, fields)
  }
}
