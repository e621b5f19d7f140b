import Foundation
import Glibc
import TestSupport
import Testing

/// Processes that are the first of a PID namespace.
private enum FirstProcess {
  static let unshare = "/usr/bin/unshare"
  static let options = ["--pid", "--fork", "--kill-child=KILL", "--mount-proc"]
  static let isSupported = (try? Child(unshare, options + ["/bin/true"]).wait()) == .exited(0)

  /// The process in the namespace.
  static func id(in parent: Child) -> Int32? {
    let path = "/proc/\(parent.id)/task/\(parent.id)/children"
    return (try? String(contentsOfFile: path, encoding: .utf8))?.split(separator: " ").first.flatMap { Int32($0) }
  }
}

/// A command as the first process of a container, for which the kernel ignores signals without a handler (pid_namespaces(7)).
@Suite(.enabled(if: FirstProcess.isSupported, "needs PID namespaces: run as root or under `unshare -Urn`"))
struct FirstProcessTests {
  /// Accepts connections, and never answers.
  private static let silent = Result { try Loopback.bound(.stream) }.map { bound in
    listen(bound.descriptor, 64)
    return bound.port
  }

  private func end(_ arguments: [String], _ signal: Int32) throws -> Child.End {
    let child = try Child(
      FirstProcess.unshare, FirstProcess.options + [Program.path] + arguments, environment: Program.environment())
    // Before the handler exists the signal has no effect: it is sent again.
    _ = eventually {
      if let process = FirstProcess.id(in: child) { kill(process, signal) }
      return child.poll() != nil
    }
    return try child.wait()
  }

  @Test(arguments: [
    ["wait", "10.9.9.9", "--timeout", "1h"], ["wait", "tcp://192.0.2.1:80", "--timeout", "1h"], ["watch"],
    ["wait", "10.9.9.9", "--timeout", "1h", "--", "/bin/true"],
    ["watch", "10.9.9.9", "--exec", "sleep 3600"],
    ["check", "tcp://127.0.0.1:SILENT", "--timeout", "60s", "--count", "9"],
    ["status", "--url", "http://127.0.0.1:SILENT", "--timeout", "60s"],
    ["healthcheck", "--url", "http://127.0.0.1:SILENT", "--timeout", "60s"],
    ["watch", "--url", "http://127.0.0.1:SILENT"], ["targets", "--url", "http://127.0.0.1:SILENT", "--timeout", "60s"],
    ["history", "--url", "http://127.0.0.1:SILENT", "--timeout", "60s"],
    ["top", "--once", "--url", "http://127.0.0.1:SILENT", "--timeout", "60s"], ["config", "check", "--config", "FIFO"],
    ["serve", "--listen", "127.0.0.1:0", "--drain-delay", "0s"], ["serve", "--config", "FIFO"],
  ])
  func signalsEndEveryCommand(arguments: [String]) throws {
    let directory = try TemporaryDirectory()
    let fifo = "\(directory.path)/fifo"
    #expect(unsafe mkfifo(fifo, 0o600) == 0)
    let port = try Self.silent.get()
    let arguments = arguments.map { $0.replacing("SILENT", with: "\(port)").replacing("FIFO", with: fifo) }
    let isService = arguments[0] == "serve"
    for signal in [SIGTERM, SIGINT] + (isService ? [] : [SIGHUP, SIGQUIT]) {
      #expect(try end(arguments, signal) == .exited(isService ? 0 : 128 + signal), "\(signal)")
    }
  }

  @Test func commandAfterAWaitIsTheFirstProcess() throws {
    let child = try Child(
      FirstProcess.unshare,
      FirstProcess.options + [Program.path, "wait", "127.0.0.1", "--", "/bin/sh", "-c", "echo $$; exit 7"],
      environment: Program.environment())
    #expect(try child.wait() == .exited(7))
    #expect(child.output == "1\n")
  }

  @Test func signalsKeepTheirMeaningForOtherProcesses() throws {
    let child = try Program.start(["wait", "10.9.9.9", "--timeout", "1h"])
    #expect(
      eventually { (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(child.id)/task").count) ?? 0 > 1 })
    child.kill(SIGTERM)
    #expect(try child.wait() == .killed(SIGTERM))
  }
}
