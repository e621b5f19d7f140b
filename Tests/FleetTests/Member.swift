import TestSupport

/// A running `reachd-fleet agent` or `reachd-fleet replica`.
final class Member: Sendable {
  let child: Child
  let address: String
  let namespace: Namespace

  /// Starts one, and waits until it listens; nil for the program under test.
  init(
    _ namespace: Namespace, _ role: String, _ file: String, environment: [String: String] = [:], program: String? = nil
  ) throws {
    self.namespace = namespace
    let child = try namespace.spawnService(
      program ?? Program.path + "-fleet", [role, "--config", file], environment: Program.environment(environment))
    self.child = child
    let isUp = eventually { child.poll() != nil || Self.address(child.errors) != nil }
    guard isUp, let address = Self.address(child.errors) else { throw TestError("no \(role): \(child.errors)") }
    self.address = address
  }

  private static func address(_ log: String) -> String? {
    log.split(separator: "\n").first { $0.contains(" listening ") }?.split(separator: " ")
      .first { $0.hasPrefix("address=") }.map { String($0.dropFirst("address=".count)) }
  }

  /// The port of its routes.
  var port: UInt16 { address.split(separator: ":").last.flatMap { UInt16($0) } ?? 0 }

  /// The body of a response.
  func get(_ path: String) throws -> String {
    try namespace.run("/usr/bin/curl", ["-s", "--max-time", "10", "http://\(address)\(path)"])
  }

  /// The number of the agent's last event.
  func lastNumber() throws -> UInt64 {
    let reader = try EventReader(HTTPConnection(port: port, in: namespace), "/events")
    _ = try reader.next()
    guard let number = reader.lastID?.split(separator: "-").last.flatMap({ UInt64($0) }) else {
      throw TestError("no id in \(address)/events")
    }
    return number
  }

  /// The number of the last change of a target in the agent's store; an event of the machine may follow it.
  func lastChange() throws -> UInt64 {
    let page = try JSONValue(get("/history?types=target&order=desc&limit=1"))
    let id = page["history"]?.elements?.first?["id"]?.text
    guard let number = id.flatMap({ UInt64($0.split(separator: "-").last ?? "") }) else {
      throw TestError("no last change: \(page)")
    }
    return number
  }
}
