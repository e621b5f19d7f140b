internal import ArgumentParser
internal import Service

struct ReachdFleet: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reachd-fleet",
    abstract: "Agents and replicas of a fleet of machines.",
    discussion: """
      An agent is `reachd serve` that also publishes its transitions to NATS JetStream and
      checks the targets of the fleet. A replica reads the stream and serves /fleet.

      EXAMPLES
        reachd-fleet agent --config node1.yaml
        reachd-fleet replica --config replica1.yaml
        reachd-fleet config check --config node1.yaml

      EXIT CODES
        0 after SIGTERM, 64 usage, 69 unavailable (an address, or the id of the agent, is in
        use), 78 configuration
      """,
    version: "reachd-fleet \(ServiceVersion.current) (commit \(ServiceVersion.commit))",
    subcommands: [FleetAgentCommand.self, FleetReplicaCommand.self, FleetConfigCommand.self])
}
