internal import ArgumentParser
internal import Service

/// `reachd-fleet config engine`.
struct FleetEngineConfigurationCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "engine",
    abstract: "Print the accounts and permissions of nats-server for a fleet.",
    discussion: """
      Prints a text that nats-server's configuration includes. A user has the password of
      an environment variable of nats-server (NODE1_PASSWORD of node1), or the key that
      follows its id.

      EXAMPLE
        reachd-fleet config engine --replica replica1 --agent node1 --agent node2=UABC... >fleet.conf
      """)

  @Option(help: "ID or ID=KEY of an agent, with its public nkey (U...); may be given more than once.")
  var agent: [String]

  @Option(help: "ID or ID=KEY of a replica; may be given more than once.")
  var replica: [String]

  func validate() throws {
    for text in agent + replica where Self.user(text) == nil {
      throw ValidationError("expected an id such as node1, or an id and a key such as node1=UABC..., got \"\(text)\"")
    }
    if let problem = configuration.problem { throw ValidationError(problem) }
  }

  func run() throws { FleetTerminal.line(configuration.text) }

  private var configuration: FleetEngineConfiguration {
    FleetEngineConfiguration(agents: agent.compactMap(Self.user), replicas: replica.compactMap(Self.user))
  }

  private static func user(_ text: String) -> FleetEngineConfiguration.User? {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard FleetConfiguration.isMemberID(parts[0]) else { return nil }
    let key = parts.count == 2 ? parts[1] : nil
    if let key, !(key.hasPrefix("U") && key.utf8.count == 56 && key.allSatisfy { $0.isUppercase || $0.isNumber }) {
      return nil
    }
    return FleetEngineConfiguration.User(id: parts[0], key: key)
  }
}
