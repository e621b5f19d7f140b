internal import ArgumentParser
internal import EmbeddedHTTPServer
internal import ReachabilityModel
internal import Service

/// `reachd config check`.
struct ConfigCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "config", abstract: "Validate configurations.", subcommands: [Check.self])

  struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Check a configuration without starting anything.",
      discussion: """
        Reads the file and the environment as `reachd serve` would, prints every error with its place, and exits 0 when
        the configuration is valid, else 78.

        EXAMPLE
          reachd config check --config /etc/reachd.yaml
        """)

    @OptionGroup var source: SourceOptions

    mutating func run() async throws {
      let sources = source.sources()
      let configuration = try sources.loadOrExit(secrets: true)
      for warning in configuration.warnings(sources.environment) { Terminal.writeError("reachd: \(warning)") }
      let addresses = configuration.listen.map(\.description).joined(separator: ", ")
      Terminal.line("valid: reachd would listen on \(addresses.withoutControls)")
    }
  }
}
