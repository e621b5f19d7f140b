internal import ArgumentParser
internal import FleetAPI
internal import HostProcess
internal import Service
internal import StatusAPI

struct FleetServiceOptions: ParsableArguments {
  @Option(
    name: .shortAndLong, help: "The configuration file (YAML); default: REACHD_CONFIG, else none.",
    completion: .file(extensions: ["yaml", "yml"]))
  var config: String?

  @Option(help: "ADDRESS:PORT or unix:/PATH to listen on; may be given more than once. Default 127.0.0.1:8080.")
  var listen: [String] = []

  @Option(help: "The directory for events, history and targets; by default they are kept in memory only.")
  var data: String?

  var sources: ConfigurationSources {
    ConfigurationSources(
      file: config, environment: ProcessEnvironment.all,
      flags: [("listen", "--listen", listen), ("data", "--data", [data].compactMap(\.self))])
  }
}

/// A command that serves until SIGTERM.
protocol FleetServingCommand: ParsableCommand {
  var options: FleetServiceOptions { get }
  /// Where the events and positions of webhooks are; nil for this process and its store.
  static var webhooks: WebhookSetup.Backend? { get }
  /// The types of events that webhooks may have; others are errors.
  static var webhookTypes: Set<String> { get }
  static func makePart(_ context: ServicePartContext) -> any ServicePart
}

extension FleetServingCommand {
  /// Does what needs privileges or a single thread.
  ///
  /// - Throws: the exit code, after the error was reported.
  func prepare() throws -> Daemon {
    do throws(DaemonPreparationFailure) {
      return try Daemon.prepare(
        options.sources, log: { FleetTerminal.log($0) },
        validate: { FleetSettings.problems($0.fleet) + $0.webhookProblems(types: Self.webhookTypes) },
        webhooks: Self.webhooks, adding: { Self.makePart($0) })
    } catch {
      switch error {
      case .configuration(let lines):
        for line in lines { FleetTerminal.writeError("reachd-fleet: \(line)") }
        throw FleetExitStatus.configuration
      case .unavailable(let line):
        FleetTerminal.writeError("reachd-fleet: \(line)")
        throw FleetExitStatus.unavailable
      }
    }
  }
}

/// `reachd-fleet agent`.
struct FleetAgentCommand: FleetServingCommand {
  static let configuration = CommandConfiguration(
    commandName: "agent",
    abstract: "Serve this machine's state, publish it to the fleet, and check the fleet's targets.",
    discussion: """
      Takes every setting of `reachd serve`, and the settings fleet.*. While the
      engine is away, checks and all routes work, and /readyz warns; what happens is
      published later.
      """)

  @OptionGroup var options: FleetServiceOptions

  static let webhooks: WebhookSetup.Backend? = nil
  static let webhookTypes = Configuration.machineEventTypes

  static func makePart(_ context: ServicePartContext) -> any ServicePart { FleetAgent(context) }
}

/// `reachd-fleet replica`.
struct FleetReplicaCommand: FleetServingCommand {
  static let configuration = CommandConfiguration(
    commandName: "replica",
    abstract: "Read the fleet's stream, and serve the state of all agents and targets.",
    discussion: """
      Takes every setting of `reachd serve`, and the settings fleet.*. It creates the
      stream when there is none, and serves the routes under /fleet.
      """)

  @OptionGroup var options: FleetServiceOptions

  static let webhookTypes = Configuration.fleetEventTypes
  private static let hooks = FleetWebhooks()
  // Not of a machine: whichever replica delivers, the source of an event is the fleet.
  static let webhooks: WebhookSetup.Backend? = .other(hooks, hooks, machine: "fleet")

  static func makePart(_ context: ServicePartContext) -> any ServicePart { FleetReplicaProcess(context, hooks) }
}

/// `reachd-fleet config`.
struct FleetConfigCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "config", abstract: "Validate configurations, and print the engine's.",
    subcommands: [Check.self, FleetEngineConfigurationCommand.self])

  struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "check",
      abstract: "Check a configuration without starting anything.",
      discussion: "Prints every error with its place, and exits 0 when the configuration is valid, else 78.")

    @OptionGroup var options: FleetServiceOptions

    func run() throws {
      do throws(ConfigurationErrors) {
        let configuration = try options.sources.load(secrets: true)
        let problems = FleetSettings.problems(configuration.fleet)
        guard problems.isEmpty else { throw ConfigurationErrors(errors: problems) }
        let servers = configuration.fleet.servers.map(FleetSettings.withoutUser).joined(separator: ", ")
        FleetTerminal.line("valid: \(configuration.fleet.id ?? "") would connect to \(servers)")
      } catch {
        for line in error.lines { FleetTerminal.writeError("reachd-fleet: \(line)") }
        throw FleetExitStatus.configuration
      }
    }
  }
}
