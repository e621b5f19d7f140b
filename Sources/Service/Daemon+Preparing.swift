internal import EmbeddedHTTPServer
internal import History
internal import HostProcess
internal import Logging
internal import Probers
package import StatusAPI

/// Why the service was not started.
package enum DaemonPreparationFailure: Error {
  /// The configuration is invalid, or a library that the service needs.
  case configuration([String])
  /// An address or the data directory is in use.
  case unavailable(String)
}

extension Daemon {
  /// Does what needs privileges or a single thread: reads the settings, binds the sockets, drops the privileges.
  ///
  /// - Parameters:
  ///   - sources: the settings.
  ///   - write: writes log lines; returns false when that failed.
  ///   - validate: returns the problems that only this executable finds.
  ///   - webhooks: where the events and positions of webhooks are; nil for this process and its store.
  ///   - makePart: makes what another executable adds to the service.
  /// - Returns: the service, ready to serve.
  /// - Throws: why it cannot be started; queued log lines were written.
  package static func prepare(
    _ sources: ConfigurationSources, log write: @escaping @Sendable (String) -> Bool,
    validate: (Configuration) -> [ConfigurationError] = { _ in [] }, webhooks: WebhookSetup.Backend? = nil,
    adding makePart: (@Sendable (ServicePartContext) -> any ServicePart)? = nil
  ) throws(DaemonPreparationFailure) -> Daemon {
    let configuration: Configuration
    do throws(ConfigurationErrors) {
      configuration = try sources.load(secrets: true)
    } catch {
      throw .configuration(error.lines)
    }
    // Targets, clients and webhooks may use https at any time.
    if let problem = CurlLibrary.tlsProblem { throw .configuration([problem]) }
    let problems = validate(configuration)
    guard problems.isEmpty else { throw .configuration(ConfigurationErrors(errors: problems).lines) }
    // From here on, termination needs cleanup.
    ProcessSignals.blockTermination()
    ProcessSignals.ignoreBrokenPipes()
    ProcessSignals.reapOrphans()
    // The first line that is written starts a thread, which would keep the privileges that this thread drops.
    let writer = LogWriter(startsPaused: true) { write($0) }
    do throws(DaemonPreparationFailure) {
      defer { writer.start() }
      return try prepare(configuration, sources, writer, webhooks, makePart)
    } catch {
      writer.flush(seconds: 1)
      throw error
    }
  }

  private static func prepare(
    _ configuration: Configuration, _ sources: ConfigurationSources, _ writer: LogWriter,
    _ webhooks: WebhookSetup.Backend?, _ makePart: (@Sendable (ServicePartContext) -> any ServicePart)?
  ) throws(DaemonPreparationFailure) -> Daemon {
    let style = LogSettings(
      configuration.logLevel, configuration.logFormat,
      hasPriorities: JournalStream.isStandardError(sources.environment))
    let logger = LineLogHandler.logger(style, writer)
    for warning in configuration.warnings(sources.environment) { logger.warning("\(warning)") }
    let manager = ServiceManager(environment: sources.environment)
    let inherited = manager.sockets.map { HTTPServerConfiguration(inheriting: $0).address }
    if let left = configuration.listenerWithoutSocket(by: inherited) {
      throw .configuration([
        "configuration: listen: the service manager's sockets omit \(left), for which the file has rules; "
          + "name the sockets' own addresses: \(inherited.map(\.description).joined(separator: ", "))"
      ])
    }
    let choice: DataDirectoryChoice
    do throws(StoreError) {
      choice = try DataDirectoryChoice(configuration, sources.environment, style, writer, manager)
    } catch {
      throw error.isInUse ? .unavailable("data: \(error)") : .configuration(["data: \(error)"])
    }
    let daemon = Daemon(
      configuration, from: sources, manager, style, writer, choice, webhooks: webhooks, adding: makePart)
    do throws(DaemonPreparationFailure) {
      try daemon.reserve()
    } catch {
      choice.end()
      throw error
    }
    return daemon
  }

  /// Reserves what the configuration needs: limits of targets, and the addresses.
  private func reserve() throws(DaemonPreparationFailure) {
    do throws(ConfigurationErrors) {
      try reserveTargets()
    } catch {
      throw .configuration(error.lines)
    }
    do throws(HTTPServerError) {
      try bind()
    } catch {
      throw .unavailable("\(error)")
    }
  }
}
