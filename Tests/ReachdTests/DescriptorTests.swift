import Foundation
import Glibc
import TestSupport
import Testing

/// Many targets in a process that may open few files.
@Suite struct DescriptorTests {
  /// Connections to it are established and never answered (listen(2): the kernel completes the handshake).
  private final class SilentServer {
    let descriptor: Int32
    let port: UInt16

    init() throws {
      (descriptor, port) = try Loopback.bound(.stream)
      // Every address of 127/8 is local, so the limit of one address is not reached.
      close(descriptor)
      let again = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = port.bigEndian
      let size = socklen_t(MemoryLayout<sockaddr_in>.size)
      let isBound = unsafe withUnsafePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe bind(again, $0, size) == 0 }
      }
      guard isBound, again == descriptor, listen(again, 4_096) == 0 else { throw TestError("no server") }
    }

    deinit { close(descriptor) }
  }

  private static func targets(_ count: Int, _ port: UInt16) -> [String] {
    (0..<count).map { "http://127.0.\(1 + $0 / 200).\(1 + $0 % 200):\(port)/" }
  }

  @Test func checksBeyondTheLimitWaitForTheirTurn() throws {
    let server = try SilentServer()
    let targets = Self.targets(400, server.port).joined(separator: " ")
    // Capacity for 22 checks: 19 rounds.
    let (_, output, _) = try Program.shell("ulimit -n 300; reachd check --timeout 200ms \(targets) || true")
    let lines = output.split(separator: "\n")
    #expect(lines.count == 400)
    #expect(lines.filter { !$0.hasPrefix("down ") || !$0.contains(" timeout ") }.isEmpty)
  }

  @Test func theSoftLimitIsRaisedBeforeTheProberIsSized() throws {
    let server = try SilentServer()
    let targets = Self.targets(400, server.port).joined(separator: " ")
    // With the soft limit alone it would be 19 rounds of 2 s.
    let start = ContinuousClock.now
    let (_, output, _) = try Program.shell(
      "ulimit -Sn 300; ulimit -Hn 4096; reachd check --timeout 2s \(targets) || true")
    #expect(output.split(separator: "\n").count == 400)
    #expect(ContinuousClock.now - start < .seconds(19))
  }

  @Test func noScheduledTargetStaysUnchecked() throws {
    let server = try SilentServer()
    let lines = Self.targets(400, server.port).enumerated().map {
      "  - { id: t\($0.offset), target: '\($0.element)', interval: 10s, timeout: 200ms, fall: 1 }\n"
    }
    let path = FileManager.default.temporaryDirectory.appending(path: "reachd-\(UUID().uuidString).yaml").path
    try ("targets:\n" + lines.joined()).write(toFile: path, atomically: true, encoding: .utf8)
    defer { try? FileManager.default.removeItem(atPath: path) }
    let line = "ulimit -n 300; exec reachd serve --listen 127.0.0.1:0 --drain-delay 0s --config \(path)"
    let child = try Child("/bin/bash", ["-c", line], environment: Program.environment())
    #expect(eventually { child.errors.contains(" listening ") })
    let address = try #require(child.errors.firstMatch(of: /address="?([0-9.:]+)/)?.output.1)
    #expect(
      try eventually {
        let page = try Program.shell("curl -s 'http://\(address)/targets?limit=1000'").output
        return try JSONValue(page)["targets"]?.elements?.allSatisfy { $0["state"]?.text == "down" } == true
      })
    let (_, metrics, _) = try Program.shell("curl -s 'http://\(address)/metrics'")
    #expect(!metrics.contains("cancelled"))
    child.kill(15)
    #expect(try child.wait() == .exited(0))
  }
}
