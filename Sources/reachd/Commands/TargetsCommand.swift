internal import ArgumentParser

/// `reachd targets`: the registered targets of a service.
struct TargetsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "targets",
    abstract: "List and change the registered targets of a service.",
    discussion: """
      EXAMPLES
        reachd targets --state down,unreachable && echo none is down
        reachd targets add db tcp://db:5432 --interval 5s --label env=prod
        reachd targets explain db
        reachd targets rm db
        reachd targets export > targets.yaml
      """,
    subcommands: [
      TargetsListCommand.self, TargetsAddCommand.self, TargetsExplainCommand.self, TargetsRemoveCommand.self,
      TargetsExportCommand.self,
    ],
    defaultSubcommand: TargetsListCommand.self)
}
