import Foundation
import Probers
import StatusClient
import TestSupport
import Testing

/// Many registrations at once, by a client of the real service.
@Suite struct TargetLoadTests {
  private static let parts = 4
  private static let targetsPerPart = 2_500

  private func get(_ service: RunningService, _ path: String) throws -> (status: Int, text: String) {
    let answer = try HTTPClient.get(url: service.url + path, timeout: .seconds(60), maximumBody: 1 << 23)
    return (answer.status, String(decoding: answer.body, as: UTF8.self))
  }

  @Test func livezIsAnsweredWhileTenThousandTargetsOfOneHostAreRegistered() throws {
    let policy = try TemporaryFile("policy: { allow: [127.0.0.0/8] }\nlog: { level: notice }\n")
    let service = try RunningService(["--drain-delay", "0s", "--config", policy.path])
    let port = try Loopback.closedPort()
    let bodies = try (0..<Self.parts).map { part in
      let items = (0..<Self.targetsPerPart).map {
        "{\"id\":\"t\(part)-\($0)\",\"target\":\"tcp://127.0.0.1:\(port)\",\"interval\":\"1h\"}"
      }
      return try TemporaryFile("[\(items.joined(separator: ","))]")
    }
    let commands = bodies.map { body in
      "curl -s -f -m 300 -o /dev/null -X POST -H 'Content-Type: application/json' --data-binary @\(body.path) "
        + "\(service.url)/targets"
    }
    let client = try Child("/bin/sh", ["-c", commands.joined(separator: " && ")])
    var answers = 0
    while client.poll() == nil {
      #expect(try get(service, "/livez").status == 200)
      answers += 1
    }
    #expect(try client.wait() == .exited(0) && answers > 0)
    let page = try get(service, "/metrics").text
    #expect(
      page.split(separator: "\n").count { $0.hasPrefix("reachd_target_info{") } == Self.parts * Self.targetsPerPart)
    #expect(page.contains("reachd_targets_omitted 0\n"))
    #expect(try get(service, "/livez").status == 200)
  }
}
