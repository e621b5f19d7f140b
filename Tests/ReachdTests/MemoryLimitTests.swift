import Foundation
import TestSupport
import Testing

/// The service in a control group of its own: a caller that registers all it can does not get it killed for memory.
@Suite struct MemoryLimitTests {
  /// A group with a memory limit, v2 or v1; nil where this process may not make one.
  final class Group {
    let path: String
    private static let files: [(mount: String, limit: String, swap: String)] = [
      ("/sys/fs/cgroup", "memory.max", "memory.swap.max"),
      ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.memsw.limit_in_bytes"),
    ]

    init?(bytes: Int) {
      for (mount, limit, swap) in Self.files {
        let path = "\(mount)/reachd-test-\(UUID().uuidString)"
        // Where only v1 is mounted, the first mount is a plain file system, which has no such file.
        let isMounted = FileManager.default.fileExists(atPath: "\(mount)/cgroup.procs")
        guard isMounted, unsafe mkdir(path, 0o755) == 0 else { continue }
        do {
          try "\(bytes)".write(toFile: "\(path)/\(limit)", atomically: false, encoding: .utf8)
          try? "0".write(toFile: "\(path)/\(swap)", atomically: false, encoding: .utf8)
          self.path = path
          return
        } catch {
          _ = unsafe rmdir(path)
        }
      }
      return nil
    }

    /// The number of processes of the group that the kernel has killed.
    var kills: Int {
      for file in ["memory.events", "memory.oom_control"] {
        let lines = (try? String(contentsOfFile: "\(path)/\(file)", encoding: .utf8))?.split(separator: "\n") ?? []
        if let line = lines.first(where: { $0.hasPrefix("oom_kill ") }) {
          return Int(line.split(separator: " ").last ?? "") ?? -1
        }
      }
      return -1
    }

    deinit { _ = unsafe rmdir(path) }
  }

  private static let isValid = Group(bytes: 64 << 20) != nil

  /// A service in a group with 64 MiB.
  private final class Service {
    let group: Group
    let child: Child
    let address: String
    var url: String { "http://\(address)" }
    var port: UInt16 { address.split(separator: ":").last.flatMap { UInt16($0) } ?? 0 }

    init(_ variables: [String: String] = [:]) throws {
      let group = try #require(Group(bytes: 64 << 20))
      let child = try Child(
        "/bin/sh",
        [
          "-c", "echo $$ > \"$1/cgroup.procs\" && exec \"$0\" serve --listen 127.0.0.1:0 --drain-delay 0s",
          Program.path, group.path,
        ], environment: Program.environment(variables))
      var address = ""
      let isUp = eventually {
        let word = child.errors.split(separator: " ").first { $0.hasPrefix("address=127.") }
        address = word.map { String($0.dropFirst("address=".count)) } ?? ""
        return !address.isEmpty
      }
      try #require(isUp, "\(child.errors)")
      (self.group, self.child, self.address) = (group, child, address)
    }

    /// It was not killed, and ends as it should.
    func expectNormalEnd() throws {
      #expect(child.poll() == nil && group.kills <= 0)
      child.kill(15)
      #expect(try child.wait() == .exited(0))
    }
  }

  /// Descriptors that the floods need, here and in the service.
  private static let hasDescriptors = DescriptorRange.raise() >= 8_192

  private static let long = String(repeating: "a", count: 7_000)

  @Test(
    .enabled(
      if: isValid && hasDescriptors, "this process may not make a cgroup with a memory limit, or open 8,192 files"),
    arguments: [
      "GET /status HTTP/1.1\r\nHost: localhost\r\nX: \(long)",
      "POST /checks HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 7010\r\n\r\n\(long)",
      "GET /status?wait=10m HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: *\r\nX: \(long.dropLast(1_000))\r\n\r\n",
      "GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n",
      "GET /targets?wait=10m HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: *\r\nX: \(long.dropLast(1_000))\r\n\r\n",
    ])
  func openConnectionsDoNotExceedTheLimit(request: String) throws {
    let service = try Service()
    let (end, _, errors) = try Program.shell(
      "for n in 1 2 3; do curl -sSf --retry 5 --retry-connrefused \(service.url)/livez; done")
    #expect(end == .exited(0), "\(errors)")
    var clients: [RawConnection] = []
    // Without a limit they would use 75 to 110 MB.
    for number in 1...5_000 {
      let client = try RawConnection(to: service.port)
      clients.append(client)
      client.send(request)
      guard number.isMultiple(of: 500) else { continue }
      let (end, output, errors) = try Program.shell("curl -sS \(service.url)/livez")
      #expect(end == .exited(0) && output == "ok\n", "\(number): \(errors)")
    }
    #expect(clients.count == 5_000)
    let (_, page, _) = try Program.shell("curl -sS \(service.url)/metrics")
    func metric(_ name: String) -> Int? {
      let line = page.split(separator: "\n").first { $0.hasPrefix("\(name){") }
      return line?.split(separator: " ").last.flatMap { Double($0) }.map { Int($0) }
    }
    let limit = try #require(metric("reachd_http_memory_limit_bytes"))
    #expect(limit == (64 - 64 / 8 - 36) << 20)
    #expect(try #require(metric("reachd_http_memory_bytes")) <= limit)
    #expect(try #require(metric("reachd_http_displaced_total")) > 2_000)
    try service.expectNormalEnd()
  }

  @Test(.enabled(if: isValid, "this process may not make a cgroup with a memory limit"))
  func registrationsBeyondTheBudgetAreRefused() throws {
    let service = try Service(["REACHD_LIMITS_REQUEST_BODY": "16777216"])
    let url = service.url
    // At 100 ms each; the budget of 12 MiB is for some 600 of them.
    let targets = (0..<2_000).map {
      "{\"id\":\"t\($0)\",\"target\":\"route://127.0.\($0 / 250).\($0 % 250 + 1)\",\"interval\":\"100ms\"}"
    }
    let body = try TemporaryFile("[\(targets.joined(separator: ","))]", suffix: ".json")
    let (end, output, errors) = try Program.shell(
      "curl -sS -H 'Content-Type: application/json' --data-binary @\(body.path) \(url)/targets")
    #expect(end == .exited(0), "\(errors)")
    let results = try #require(try JSONValue(output)["results"]?.elements)
    let created = results.count { $0["status"]?.integer == 201 }
    #expect((100..<1_000).contains(created), "\(created)")
    let refusal = try #require(results.last)
    #expect(refusal["code"]?.text == "quotaExceeded")
    #expect(refusal["detail"]?.text?.contains("memory limit of 64 MiB; raise") == true, "\(refusal)")
    let (_, page, _) = try Program.shell("curl -sS \(url)/metrics")
    #expect(page.contains("reachd_targets_memory_limit_bytes \(12 << 20)\n"))
    try service.expectNormalEnd()
  }
}
