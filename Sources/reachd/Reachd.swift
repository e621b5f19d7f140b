internal import ArgumentParser
internal import ReachabilityModel
internal import Service
internal import TextSyntax

struct Reachd: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reachd",
    abstract: "Reports whether this machine and other hosts are reachable, and every change.",
    discussion: """
      EXAMPLES
        reachd serve                        serve HTTP on 127.0.0.1:8080
        reachd serve --listen 0.0.0.0:8080  ... on every address
        reachd status                       query the service
        reachd status --direct              query the kernel, without a service
        reachd watch                        print every change of the default path
        reachd watch db.internal 10.0.0.9   ... or of the paths to these hosts
        reachd check db:5432 --explain      check a target, show which layer fails
        reachd wait db.internal             wait until a host is reachable
        reachd top                          show this machine and all targets, live
        reachd targets --state down         list the targets of a service
        reachd targets --since 24h          ... with their availability
        reachd gates                        list what programs need, and what is missing
        reachd history --since 1h           print the transitions of the past
        reachd config check -c reachd.yaml  validate a configuration
        reachd token create --scope read    create a token for clients
        reachd store check --data DIR       check the database of a data directory
        reachd store acknowledge --data DIR acknowledge that a database was set aside

      EXIT CODES
        0 yes, 1 no, 2 undetermined, 64 usage, 69 unavailable, 70 internal error,
        73 file not created, 74 output, 77 no permission, 78 configuration, 126 and 127 the command
        after reachd wait ... -- cannot be executed, or does not exist
      """,
    version: "reachd \(ServiceVersion.current) (commit \(ServiceVersion.commit))",
    subcommands: [
      ServeCommand.self, StatusCommand.self, WatchCommand.self, CheckCommand.self, WaitCommand.self,
      TargetsCommand.self, GatesCommand.self, TopCommand.self, HistoryCommand.self, HealthcheckCommand.self,
      ConfigCommand.self,
      TokenCommand.self,
      StoreCommand.self,
    ])

  /// Returns the error for a word that is not a subcommand, with the nearest name.
  ///
  /// The parser reports such a word as an unexpected argument, without a suggestion.
  static func unknownCommand(in arguments: some Sequence<String>) -> String? {
    var command: any ParsableCommand.Type = Reachd.self
    var path = "reachd"
    for word in arguments {
      let names = command.configuration.subcommands.map { ($0.configuration.commandName ?? "", $0) }
      guard !names.isEmpty, !word.hasPrefix("-"), word != "help" else { return nil }
      guard let next = names.first(where: { $0.0 == word }) else {
        let suggestion = EditDistance.suggestion(for: word, among: names.map(\.0)).map { " (\($0))" } ?? ""
        return "Error: unknown command \(word.debugDescription)\(suggestion); see \(path) --help"
      }
      command = next.1
      path += " \(word)"
    }
    return nil
  }
}
