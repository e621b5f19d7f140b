internal import ArgumentParser
internal import Logging
internal import EmbeddedHTTPServer
internal import Service

/// `reachd serve`: the service.
struct ServeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Serve the state of this machine over HTTP, and every change as a stream.",
    usage: "reachd serve [OPTIONS]",
    discussion: """
      A flag takes precedence over the environment (REACHD_LISTEN, REACHD_LOG_LEVEL
      ...), the environment over the file. The first line on standard error contains
      the address; port 0 is a free port. SIGTERM and SIGINT drain: /readyz returns
      503, streams end with `bye`, requests are completed, exit 0. SIGHUP reloads the
      configuration; if it is invalid, the errors are logged and nothing changes.

      After binding its addresses, the service drops every capability and sets
      no_new_privs. It notifies a service manager that it is ready or stopping and
      sends watchdog heartbeats (sd_notify). Sockets of a service manager
      (LISTEN_FDS) replace all configured addresses, and have the rules of the
      configured address that is equal.

      EXAMPLES
        reachd serve
        reachd serve --listen 0.0.0.0:8080 --log-format json
        reachd serve --config /etc/reachd.yaml
      """)

  @Option(help: "ADDRESS:PORT or unix:/PATH to listen on; may be given more than once. Default 127.0.0.1:8080.")
  var listen: [String] = []

  @Option(
    help: "trace, debug, info, notice, warning, error or critical. Default info.",
    completion: .list(Logger.Level.allCases.map(\.rawValue)))
  var logLevel: String?

  @Option(help: "text or json. Default text.", completion: .list(["text", "json"]))
  var logFormat: String?

  @Option(help: "The delay before a loss is reported. Default 10ms.")
  var settle: String?

  @Option(help: "How long new connections are accepted after SIGTERM. Default 2s.")
  var drainDelay: String?

  @Option(help: "The time limit of the shutdown. Default 10s.")
  var grace: String?

  @Option(
    help: "How event streams are sent: auto, takeover or callback. Default auto.",
    completion: .list(["auto", "takeover", "callback"]))
  var streams: String?

  @Option(help: "The directory for events, history and targets; by default they are kept in memory only.")
  var data: String?

  @OptionGroup var source: SourceOptions

  mutating func run() async throws { try await Self.run(prepare()) }

  /// Does what needs privileges or a single thread: reads the settings, binds the sockets, drops the privileges.
  ///
  /// - Throws: the exit code, after the error was reported.
  func prepare() throws -> Daemon {
    let sources = source.sources([
      ("listen", "--listen", listen), ("log.level", "--log-level", [logLevel].compactMap(\.self)),
      ("log.format", "--log-format", [logFormat].compactMap(\.self)),
      ("settle", "--settle", [settle].compactMap(\.self)),
      ("drainDelay", "--drain-delay", [drainDelay].compactMap(\.self)),
      ("grace", "--grace", [grace].compactMap(\.self)),
      ("streams", "--streams", [streams].compactMap(\.self)), ("data", "--data", [data].compactMap(\.self)),
    ])
    do throws(DaemonPreparationFailure) {
      return try Daemon.prepare(
        sources, log: { Terminal.log($0) },
        validate: { $0.webhookProblems(types: Configuration.machineEventTypes) })
    } catch {
      switch error {
      case .configuration(let lines):
        for line in lines { Terminal.writeError("reachd: \(line)") }
        throw ExitStatus.configuration
      case .unavailable(let line):
        Terminal.writeError("reachd: \(line)")
        throw ExitStatus.unavailable
      }
    }
  }

  /// Serves until the end.
  static func run(_ daemon: Daemon) async throws {
    defer { daemon.flushLog() }
    do {
      try await daemon.serve()
    } catch let error as HTTPServerError {
      Terminal.writeError("reachd: \(error)")
      throw ExitStatus.unavailable
    }
  }
}
