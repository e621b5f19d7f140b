internal import ReachabilityFleet

/// The accounts of nats-server for a list of agents and replicas.
struct FleetEngineConfiguration {
  struct User: Hashable {
    var id: String
    /// The public key; nil for a password.
    var key: String?

    /// The variable with its password: `NODE_1_PASSWORD` of `node-1`.
    var variable: String {
      String(id.uppercased().map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" }) + "_PASSWORD"
    }
  }

  var agents: [User]
  var replicas: [User]

  /// What is wrong with the lists; nil for nothing.
  var problem: String? {
    let users = agents + replicas
    if agents.isEmpty || replicas.isEmpty { return "at least one --agent and one --replica are needed" }
    if let id = Self.repeated(users.map(\.id)) { return "the id \(id) is given twice" }
    if let name = Self.repeated(users.filter { $0.key == nil }.map(\.variable)) {
      return "two ids have the variable \(name); give one of them a key"
    }
    return nil
  }

  private static func repeated(_ texts: [String]) -> String? {
    var seen: Set<String> = []
    return texts.first { !seen.insert($0).inserted }
  }

  /// The text for nats-server's configuration file, or for one that it includes.
  var text: String {
    var lines = [
      "# The accounts of a fleet, by `reachd-fleet config engine`: an agent can publish as itself only, and has no access",
      "# to the stream. Include this file in the configuration of every server.", "accounts {", "  FLEET {",
      "    jetstream: enabled", "    # Of each connection; the most that a replica needs, and some more.",
      "    limits: { max_subscriptions: \(FleetPermissions.subscriptions), max_payload: \(FleetPermissions.payloadBytes) }",
      "    users: [",
    ]
    for user in replicas { lines += Self.lines(user, FleetPermissions.replica) }
    for user in agents { lines += Self.lines(user, FleetPermissions.agent(user.id)) }
    lines += ["    ]", "  }", "}"]
    return lines.joined(separator: "\n")
  }

  private static func lines(_ user: User, _ permissions: FleetPermissions) -> [String] {
    let credentials = user.key.map { ["nkey: \($0)"] } ?? ["user: \"\(user.id)\"", "password: $\(user.variable)"]
    return ["      {"]
      + (credentials + [
        "permissions {", "  publish: [\(list(permissions.publish))]", "  subscribe: [\(list(permissions.subscribe))]",
        "}",
      ]).map { "        " + $0 } + ["      }"]
  }

  private static func list(_ subjects: [String]) -> String { subjects.map { "\"\($0)\"" }.joined(separator: ", ") }
}
