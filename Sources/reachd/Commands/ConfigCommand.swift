internal import ArgumentParser
internal import EmbeddedHTTPServer
internal import JSONFormat
internal import ReachabilityModel
internal import Service

/// `reachd config check`.
struct ConfigCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "config", abstract: "Validate configurations.", subcommands: [Check.self])

  struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "check",
      abstract: "Check a configuration without starting anything.",
      discussion: """
        Reads the file and the environment as `reachd serve` would, prints every error
        with its place, and exits 0 when the configuration is valid, else 78.

        EXAMPLES
          reachd config check --config /etc/reachd.yaml
          reachd config check --json | jq -r '.errors[].location'
        """)

    @Flag(help: "Print the errors and warnings as JSON.")
    var json = false

    @OptionGroup var source: SourceOptions

    mutating func run() async throws {
      let sources = source.sources()
      guard json else {
        let configuration = try sources.loadOrExit(secrets: true)
        let problems = configuration.webhookProblems(types: Configuration.machineEventTypes)
        for line in ConfigurationErrors(errors: problems).lines { Terminal.writeError("reachd: \(line)") }
        guard problems.isEmpty else { throw ExitStatus.configuration }
        for warning in configuration.warnings(sources.environment) { Terminal.writeError("reachd: \(warning)") }
        let addresses = configuration.listen.map(\.description).joined(separator: ", ")
        Terminal.line("valid: reachd would listen on \(addresses.withoutControls)")
        return
      }
      do throws(ConfigurationErrors) {
        let configuration = try sources.load(secrets: true)
        let problems = configuration.webhookProblems(types: Configuration.machineEventTypes)
        guard problems.isEmpty else { throw ConfigurationErrors(errors: problems) }
        report(configuration.listen.map(\.description), [], configuration.warnings(sources.environment))
      } catch {
        report([], error.errors, [])
        throw ExitStatus.configuration
      }
    }

    private func report(_ listen: [String], _ errors: [ConfigurationError], _ warnings: [String]) {
      let items = errors.map { error in
        JSON.members([
          "location": .string(error.location), "path": .string(error.path), "problem": .string(error.problem),
          "hint": .string(error.hint),
        ])
      }
      let document = JSON.members([
        "valid": .bool(errors.isEmpty), "listen": .list(listen), "errors": .array(items), "warnings": .list(warnings),
      ])
      Terminal.line(String(decoding: document.bytes, as: UTF8.self))
    }
  }
}
