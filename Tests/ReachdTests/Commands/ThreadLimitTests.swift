import Glibc
import TestSupport
import Testing

/// A process that cannot create threads, or not enough of them: an error, and never a wait.
@Suite struct ThreadLimitTests {
  private static let concurrent = [
    ["wait", "127.0.0.1", "--timeout", "1s"], ["wait", "tcp://127.0.0.1:1", "--timeout", "1s"],
    ["check", "tcp://127.0.0.1:1"], ["check", "localhost:1", "icmp://127.0.0.1"], ["watch"],
    ["status", "--direct"], ["serve", "--listen", "127.0.0.1:0"],
  ]

  @Test(arguments: [
    (EAGAIN, " threads are required; see ulimit -u, and pids.max"), (EPERM, "clone3(2) is not permitted"),
  ])
  func commandsReportWhyThereAreNoThreads(code: Int32, message: String) throws {
    let directory = try TemporaryDirectory()
    let variables = try RefusedCall.environment([RefusedCall("clone3", errno: code)], in: directory)
    for arguments in Self.concurrent {
      let (end, _, errors) = try Program.run(arguments, environment: variables)
      #expect(end == .exited(69), "\(arguments)")
      #expect(errors.hasPrefix("reachd: ") && errors.contains(message), "\(arguments): \(errors)")
    }
  }

  @Test func commandsWithoutThreadsNeedNone() throws {
    let service = try RunningService()
    let directory = try TemporaryDirectory()
    let variables = try RefusedCall.environment([RefusedCall("clone3", errno: EAGAIN)], in: directory)
    for arguments in [
      ["healthcheck", "--url", service.url], ["status", "--url", service.url], ["targets", "--url", service.url],
      ["config", "check"], ["token", "create", "--scope", "read"], ["--version"], ["--help"],
    ] {
      let (end, _, errors) = try Program.run(arguments, environment: variables)
      #expect(end == .exited(0) || arguments[0] == "status" && end == .exited(1), "\(arguments): \(errors)")
    }
  }

  /// RLIMIT_NPROC counts the processes of a user, and has no effect for root.
  @Test(.enabled(if: geteuid() == 0), arguments: [1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 17, 40])
  func everyLimitLeadsToAnEnd(limit: Int) throws {
    // A user id without any process.
    let user = ["--reuid", "\(62_000 + limit)", "--clear-groups"]
    guard try Child("/usr/bin/setpriv", user + ["/usr/bin/test", "-x", Program.path]).wait() == .exited(0) else {
      return
    }
    for arguments in Self.concurrent where !["watch", "serve"].contains(arguments[0]) {
      let child = try Child(
        "/usr/bin/prlimit", ["--nproc=\(limit)", "/usr/bin/setpriv"] + user + [Program.path] + arguments,
        environment: Program.environment())
      let end = try child.wait()
      let results: [Child.End] = [.exited(0), .exited(1), .exited(2), .exited(69)]
      #expect(results.contains(end), "\(limit): \(arguments): \(end) \(child.errors)")
      if limit > 16 { #expect(end != .exited(69), "\(arguments): \(child.errors)") }
    }
  }
}
