internal import Glibc

/// The program under test, as it was built beside the tests, in processes of its own.
public enum Program {
  /// The built `reachd`: it lies where the test program does.
  public static let path: String = {
    guard let real = unsafe realpath("/proc/self/exe", nil) else { return "reachd" }
    defer { unsafe free(real) }
    let own = unsafe String(cString: real)
    return "/" + own.split(separator: "/").dropLast().joined(separator: "/") + "/reachd"
  }()

  /// Only what a program needs that no variable of the tests may configure.
  public static let bareEnvironment = ["PATH": "/usr/bin:/bin", "ASAN_OPTIONS": "detect_leaks=0"]

  /// An environment with a path and nothing that configures the program, and `extra`.
  public static func environment(_ extra: [String: String] = [:]) -> [String: String] {
    let directory = path.split(separator: "/").dropLast().joined(separator: "/")
    let usual = [
      "PATH": "/\(directory):/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": "/nonexistent",
      // Built for AddressSanitizer: what a program holds that exits in the middle of its work is no leak.
      "ASAN_OPTIONS": "detect_leaks=0",
    ]
    return usual.merging(extra) { $1 }
  }

  /// A variable of the tests' own environment; nil when it is not set, or empty.
  public static func environmentVariable(_ name: String) -> String? {
    guard let value = unsafe getenv(name) else { return nil }
    let text = unsafe String(cString: value)
    return text.isEmpty ? nil : text
  }

  /// Starts the program.
  ///
  /// - Throws: a ``TestError`` when it cannot be started.
  public static func start(
    _ arguments: [String], environment extra: [String: String] = [:], input: String? = nil
  ) throws(TestError) -> Child {
    try Child(path, arguments, environment: environment(extra), input: input)
  }

  /// Runs the program to its end.
  ///
  /// - Throws: a ``TestError`` when it cannot be started or does not end.
  public static func run(
    _ arguments: [String], environment extra: [String: String] = [:], input: String? = nil
  ) throws(TestError) -> (end: Child.End, output: String, errors: String) {
    let child = try start(arguments, environment: extra, input: input)
    let end = try child.wait()
    return (end, child.output, child.errors)
  }

  /// Runs lines of shell as a reader of the documentation would type them, with `reachd` on the path.
  ///
  /// - Parameters:
  ///   - lines: the snippet, for `/bin/sh -eu`.
  ///   - extra: variables, such as `REACHD_URL` of a running service.
  /// - Returns: how it ended, and what it wrote.
  /// - Throws: a ``TestError`` when it cannot be started or does not end.
  public static func shell(
    _ lines: String, environment extra: [String: String] = [:]
  ) throws(TestError) -> (end: Child.End, output: String, errors: String) {
    let child = try Child("/bin/sh", ["-eu", "-c", lines], environment: environment(extra))
    let end = try child.wait(within: .seconds(60))
    return (end, child.output, child.errors)
  }
}

/// A running service on addresses of its own; it is killed with its last reference.
public final class RunningService: Sendable {
  /// Its process.
  public let child: Child
  /// `http://127.0.0.1:40123`, one for each address, in their order.
  public let urls: [String]

  /// The first address.
  public var url: String { urls[0] }

  /// Starts `reachd serve` and waits until it has said where it listens.
  ///
  /// - Parameters:
  ///   - listen: the addresses, with port 0.
  ///   - arguments: further ones.
  ///   - extra: variables.
  ///   - wrapper: a program and its arguments that replaces itself with the service, whose command line follows.
  /// - Throws: a ``TestError`` with what it said when it does not come up.
  public init(
    listen: [String] = ["127.0.0.1:0"], _ arguments: [String] = ["--drain-delay", "0s"],
    environment extra: [String: String] = [:], under wrapper: [String] = []
  ) throws(TestError) {
    let command = wrapper + [Program.path, "serve"] + listen.flatMap { ["--listen", $0] } + arguments
    let child = try Child(command[0], Array(command.dropFirst()), environment: Program.environment(extra))
    self.child = child
    let isUp = eventually { child.poll() != nil || Self.addresses(child.errors).count == listen.count }
    urls = Self.addresses(child.errors).map { "http://\($0)" }
    guard isUp, urls.count == listen.count else { throw TestError("no service: \(child.errors)") }
  }

  /// The addresses of the `listening` lines so far, of either log format.
  private static func addresses(_ log: String) -> [String] {
    log.split(separator: "\n").filter { $0.contains(" listening ") && !$0.contains("HTTP server") }
      .compactMap { line in
        line.split(separator: " ").first { $0.hasPrefix("address=") }.map { String($0.dropFirst("address=".count)) }
          .map { $0.filter { $0 != "\"" } }
      }
  }

  /// Ends it as an orchestrator would.
  ///
  /// - Returns: how it ended.
  /// - Throws: a ``TestError`` when it does not end.
  @discardableResult
  public func terminate() throws(TestError) -> Child.End {
    child.kill(15)
    return try child.wait()
  }
}
