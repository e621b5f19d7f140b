import Foundation
import Logging
import TestSupport
import Testing

/// The log of a real service: what people and collectors read.
@Suite struct LineLogHandlerTests {
  @Test func firstLogLineContainsTheAddress() throws {
    let service = try RunningService()
    let first = service.child.errors.split(separator: "\n").first.map(String.init) ?? ""
    #expect(first.contains("address=\(service.url.dropFirst("http://".count))"))
    #expect(try service.terminate() == .exited(0))
  }

  @Test func jsonFormatWritesJSONLines() throws {
    let child = try Program.start(
      ["serve", "--listen", "127.0.0.1:0", "--log-format", "json", "--log-level", "trace", "--drain-delay", "0s"])
    #expect(eventually { child.errors.contains("first verdict") || child.errors.contains("kernel unavailable") })
    child.kill(15)
    #expect(try child.wait() == .exited(0))
    let lines = child.errors.split(separator: "\n")
    #expect(lines.count > 3)
    for line in lines {
      let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      for key in ["time", "level", "message"] { #expect(object?[key] is String, "\(line)") }
      if object?["message"] as? String == "first verdict" { #expect(object?["sequence"] as? Int == 1, "\(line)") }
      if object?["message"] as? String == "listening" { #expect(line.contains("\"tls\":false"), "\(line)") }
    }
    #expect(lines.first?.contains("\"address\":\"127.0.0.1:") == true)
  }

  /// The lines of a service whose `JOURNAL_STREAM` is an expression of the shell.
  private func lines(stream: String, _ options: String) throws -> [String] {
    let line = "export JOURNAL_STREAM=\(stream) && exec reachd serve --listen 127.0.0.1:0 --drain-delay 0s \(options)"
    let child = try Child("/bin/bash", ["-c", line], environment: Program.environment(["REACHD_NONSENSE": "1"]))
    _ = eventually { child.errors.contains("privileges") || child.errors.contains("reachd: ") }
    child.kill(15)
    _ = try child.wait()
    return child.errors.split(separator: "\n").map(String.init)
  }

  /// Device and inode of the standard error, as systemd writes them.
  private static let own = "$(stat -L -c %d:%i /proc/self/fd/2)"

  @Test(arguments: ["text", "json"])
  func journalReceivesPriorities(format: String) throws {
    let lines = try lines(stream: Self.own, "--log-format \(format) --log-level debug")
    #expect(lines.count > 3)
    let priorities = ["critical": 2, "error": 3, "warning": 4, "notice": 5, "info": 6, "debug": 7]
    for line in lines {
      let level = priorities.first { line.contains(format == "json" ? "\"level\":\"\($0.key)\"" : "Z \($0.key) ") }
      #expect(level.map { line.hasPrefix("<\($0.value)>") } == true, "\(line)")
    }
    #expect(lines.contains { $0.hasPrefix("<4>") && $0.contains("REACHD_NONSENSE") })
  }

  @Test func journalReceivesErrorsOfTheStart() throws {
    let lines = try lines(stream: Self.own, "--config /nonexistent")
    #expect(lines.count == 1 && lines[0].hasPrefix("<3>reachd: "), "\(lines)")
  }

  @Test(arguments: [
    "''", "x", ":", "0:0", "1:2:3", "-1:-1", "\(own)0", "0\(own)", "' '\(own)", "\(own):0",
    "$(stat -L -c %d:%i /dev/null)", "$(stat -L -c %i:%d /proc/self/fd/2)",
  ])
  func otherReadersReceiveNoPriorities(stream: String) throws {
    let lines = try lines(stream: stream, "")
    #expect(lines.count > 1)
    for line in lines { #expect(!line.hasPrefix("<"), "\(line)") }
  }
}
