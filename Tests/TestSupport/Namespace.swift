internal import CNetlink
internal import Glibc

/// A network namespace of its own, made of a thread that lives in it (network_namespaces(7)).
///
/// It ends with the last reference, when no socket and no child process is left in it. Works as root, and for anybody
/// when the test process runs under `unshare -Urn`.
public final class Namespace: Sendable {
  private let worker: Worker
  private let thread: Int32

  /// Makes an empty namespace, with `lo` switched on.
  ///
  /// - Throws: a ``TestError`` without the privilege, see ``isSupported``.
  public init() throws(TestError) {
    let worker = Worker()
    let outcome = worker.run { () -> (thread: Int32, errno: Int32) in
      unshare(Int32(CNetlink_CLONE_NEWNET)) == 0 ? (gettid(), 0) : (0, errno)
    }
    self.worker = worker
    thread = outcome.thread
    guard outcome.errno == 0 else {
      worker.end()
      throw .system("unshare", outcome.errno)
    }
    try ip("link set lo up")
  }

  deinit { worker.end() }

  /// Whether this process may make namespaces.
  public static let isSupported: Bool = {
    do throws(TestError) {
      _ = try Namespace()
      return true
    } catch {
      return false
    }
  }()

  /// A path to the namespace, for `ip link set X netns PATH`; valid while this object lives.
  public var path: String { "/proc/\(getpid())/task/\(thread)/ns/net" }

  /// Runs a closure on the namespace's thread and waits: sockets that it opens and children that it spawns belong there.
  public func run<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
    try worker.run(body)
  }

  /// Spawns a program inside the namespace.
  ///
  /// - Throws: a ``TestError`` when it cannot be started.
  public func spawn(
    _ path: String, _ arguments: [String] = [], environment: [String: String]? = nil, input: String? = nil
  ) throws(TestError) -> Child {
    try run { () throws(TestError) in
      try Child(path, arguments, environment: environment, input: input)
    }
  }

  /// Spawns a program that the kernel kills when this namespace's thread ends, also by SIGKILL of this process
  /// (PR_SET_PDEATHSIG in prctl(2)): the children of a killed test would run for ever.
  ///
  /// - Throws: a ``TestError`` when it cannot be started.
  public func spawnService(
    _ path: String, _ arguments: [String] = [], environment: [String: String]? = nil
  ) throws(TestError) -> Child {
    try spawn("/usr/bin/setpriv", ["--pdeathsig", "KILL", path] + arguments, environment: environment)
  }

  /// Runs a program inside the namespace to its end.
  ///
  /// - Returns: its standard output.
  /// - Throws: a ``TestError`` with its standard error when it fails.
  @discardableResult
  public func run(
    _ path: String, _ arguments: [String], input: String? = nil
  ) throws(TestError) -> String {
    let child = try spawn(path, arguments, input: input)
    let end = try child.wait()
    guard end == .exited(0) else {
      throw TestError("\(path) \(arguments.joined(separator: " ")): \(end), \(child.errors)")
    }
    return child.output
  }

  /// Runs `ip` with the words of `command`, such as `link set lo up`.
  ///
  /// - Throws: a ``TestError`` with its standard error when it fails.
  @discardableResult
  public func ip(_ command: String) throws(TestError) -> String {
    try run(Self.ipPath, command.split(separator: " ").map(String.init))
  }

  /// Runs many `ip` commands in one process (`ip -batch -`).
  public func ip(batch commands: [String]) throws(TestError) {
    try run(Self.ipPath, ["-batch", "-"], input: commands.map { $0 + "\n" }.joined())
  }

  /// Sets a network parameter of the namespace: `net.ipv6.conf.all.accept_dad`.
  ///
  /// Slashes in the name are taken as they are, for interfaces with a dot.
  public func sysctl(_ name: String, _ value: Int) throws(TestError) {
    let path = "/proc/sys/" + (name.contains("/") ? name : String(name.map { $0 == "." ? "/" : $0 }))
    try run { () throws(TestError) in
      let file = unsafe open(path, O_WRONLY | O_CLOEXEC)
      guard file >= 0 else { throw .system("open \(path)") }
      defer { close(file) }
      let text = "\(value)\n"
      guard unsafe write(file, text, text.utf8.count) == text.utf8.count else { throw .system("write \(path)") }
    }
  }

  /// Reads a network parameter of the namespace.
  public func sysctl(_ name: String) throws(TestError) -> String {
    try run("/bin/cat", ["/proc/sys/" + (name.contains("/") ? name : String(name.map { $0 == "." ? "/" : $0 }))])
      .split(separator: "\n").first.map(String.init) ?? ""
  }

  /// Gives the namespace's thread a table of file descriptors of its own, so that leaks can be counted exactly.
  ///
  /// Afterwards only ``run(_:)`` may be used, for work that opens and closes everything on that thread.
  public func unshareDescriptors() throws(TestError) {
    let code = run { unshare(Int32(CNetlink_CLONE_FILES)) == 0 ? 0 : errno }
    guard code == 0 else { throw .system("unshare CLONE_FILES", code) }
  }

  /// How many file descriptors the calling thread's table holds.
  public static func openFileCount() -> Int {
    guard let directory = unsafe opendir("/proc/thread-self/fd") else { return -1 }
    defer { unsafe closedir(directory) }
    var count = 0
    while unsafe readdir(directory) != nil { count += 1 }
    // ".", ".." and the directory itself.
    return count - 3
  }

  /// The index of an interface.
  public func index(of name: String) throws(TestError) -> UInt32 {
    try run { () throws(TestError) in
      let index = unsafe if_nametoindex(name)
      guard index != 0 else { throw .system("if_nametoindex \(name)") }
      return index
    }
  }

  /// Debian and most others keep it in /sbin or a link to it.
  private static let ipPath: String =
    ["/sbin/ip", "/usr/sbin/ip", "/bin/ip", "/usr/bin/ip"]
    .first { unsafe access($0, X_OK) == 0 } ?? "/sbin/ip"
}
