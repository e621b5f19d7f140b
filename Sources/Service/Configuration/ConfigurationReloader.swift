internal import HostProcess
internal import Locks
internal import Logging
internal import EmbeddedHTTPServer
internal import NetworkReachability
internal import StatusAPI

/// Reloads the configuration on SIGHUP: everything is read and validated before anything changes.
///
/// When only a certificate, a key, a token file or a secret has changed, they are read again with the configuration file as it
/// was: a change of that file waits for SIGHUP, unless the setting `watchConfiguration` applies it.
///
/// After an error the previous configuration stays in force unchanged. A changed setting that cannot change while the
/// service runs is reported in the log, in `/readyz?verbose` and in `/metrics` until the restart.
final class ConfigurationReloader: Sendable {
  /// A part of the service that applies changed settings.
  struct Participant: Sendable {
    /// Validates what the change needs, such as files that a setting names, without changing anything.
    ///
    /// It returns the closure that makes the change, which cannot fail.
    var prepare: @Sendable (Configuration) throws(ConfigurationErrors) -> @Sendable () -> Void

    /// A part whose settings need no validation beyond that of the configuration.
    init(change: @escaping @Sendable (Configuration) -> Void) {
      prepare = { (configuration) throws(ConfigurationErrors) in { change(configuration) } }
    }

    /// A part that validates its settings before the change.
    init(prepare: @escaping @Sendable (Configuration) throws(ConfigurationErrors) -> @Sendable () -> Void) {
      self.prepare = prepare
    }
  }

  private struct State {
    var configuration: Configuration
    var successes = 0
    var failures = 0
    var lastSuccess = Timestamp.now
    /// The time of the last reload if it failed, else nil.
    var failed: Timestamp?
    /// The changed settings that take effect at the next restart.
    var pending: [String] = []
    /// The texts of the settings in force.
    ///
    /// A pending change is not in them: it has not taken effect, and may be reverted before the restart.
    var activeValues: [String: [String]]
  }

  private let sources: ConfigurationSources
  /// The configuration at the start, which stays in force for settings that SIGHUP cannot change.
  private let started: Configuration
  private let participants: [Participant]
  private let logger: Logger
  private let state: Locked<State>

  /// Creates a reloader for a service that runs with `configuration`, which was read from `sources`.
  init(
    _ configuration: Configuration, from sources: ConfigurationSources, _ logger: Logger, _ participants: [Participant]
  ) {
    self.sources = sources
    self.participants = participants
    self.logger = logger
    started = configuration
    state = Locked(State(configuration: configuration, activeValues: configuration.assigned))
  }

  /// The last configuration that was read without errors; in force for the settings that SIGHUP can change.
  var configuration: Configuration { state.withLock(\.configuration) }

  /// The files whose changes are applied without a signal.
  var watchedFiles: [String] {
    let configuration = configuration
    let file = configuration.watchesFile ? configuration.source?.path : nil
    return configuration.renewedFiles + [file].compactMap(\.self)
  }

  func reloadWatchedFiles() {
    logger.info("a file of the configuration has changed")
    let configuration = configuration
    reload(content: configuration.watchesFile ? nil : configuration.source?.bytes)
  }

  /// Reads the sources again and applies the settings that may change.
  ///
  /// - Parameter content: the content of the configuration file; nil to read it.
  func reload(content: [UInt8]? = nil) {
    do throws(ConfigurationErrors) {
      var sources = sources
      sources.content = content
      let loaded = try sources.load(following: started)
      var changes: [@Sendable () -> Void] = []
      for participant in participants { changes.append(try participant.prepare(loaded)) }
      for change in changes { change() }
      succeed(loaded)
      // Returns the memory that reading the file and replacing the targets needed.
      FreeMemory.release()
    } catch {
      state.withLock { state in
        state.failures += 1
        state.failed = .now
      }
      for line in error.lines { logger.error("configuration not reloaded", metadata: ["error": "\(line)"]) }
    }
  }

  private func succeed(_ loaded: Configuration) {
    let pending = Self.difference(started.assigned, loaded.assigned).filter { path in
      if Setting.reloadableIfInitiallySet.contains(path) {
        return (started.assigned[path] == nil) != (loaded.assigned[path] == nil)
      }
      return !Setting.reloadable.contains(path)
    }
    let changed = state.withLock { state in
      state.configuration = loaded
      state.successes += 1
      state.lastSuccess = .now
      state.failed = nil
      state.pending = pending
      let before = state.activeValues
      state.activeValues = loaded.assigned
      for path in pending { state.activeValues[path] = before[path] }
      return Self.difference(before, state.activeValues)
    }
    // The files that the settings name, such as certificates, were read again in any case.
    let names = changed.isEmpty ? "none" : changed.joined(separator: ",")
    logger.notice("configuration reloaded", metadata: ["changed": "\(names)"])
    for warning in loaded.warnings(sources.environment) { logger.warning("\(warning)") }
    if !pending.isEmpty {
      logger.warning("settings need a restart", metadata: ["settings": "\(pending.joined(separator: ","))"])
    }
  }

  /// The paths whose texts differ, in order.
  private static func difference(_ old: [String: [String]], _ new: [String: [String]]) -> [String] {
    Set(old.keys).union(new.keys).filter { old[$0] != new[$0] }.sorted()
  }

  // MARK: - Reporting

  /// The result for `/readyz`: a service with its last valid configuration is ready, with a warning.
  var healthCheck: HealthCheck {
    HealthCheck("configuration", isWarning: true) { [self] in
      let state = state.withLock(\.self)
      // The file and line are in the log only, because any client may read this.
      if let failed = state.failed {
        return "the reload of \(failed) failed and the previous configuration is in force; see the log"
      }
      return state.pending.isEmpty ? nil : "settings that need a restart: \(state.pending.joined(separator: ", "))"
    }
  }

  /// The samples for `/metrics`.
  var metricCollector: MetricCollector {
    MetricCollector { [self] page in
      let state = state.withLock(\.self)
      page.add(
        "reachd_configuration_reloads_total", .counter, "Reloads of the configuration, by result.",
        [.init(Double(state.successes), ["result": "success"]), .init(Double(state.failures), ["result": "failure"])])
      page.add(
        "reachd_configuration_last_reload_successful", .gauge, "Whether the last reload succeeded; 1 before the first.",
        state.failed == nil ? 1 : 0)
      page.add(
        "reachd_configuration_success_timestamp_seconds", .gauge, "Time at which the configuration in force was read.",
        [.init(Double(state.lastSuccess.microseconds) / 1e6)])
      let certificates = state.configuration.listeners.compactMap { listener in
        state.configuration.identity(of: listener).map { ("\(listener.address)", $0.expires) }
      }
      page.add(
        "reachd_certificate_expiry_timestamp_seconds", .gauge, "Time at which the certificate of an address expires.",
        certificates.map { .init(Double($1), ["listener": $0]) })
      page.add(
        "reachd_configuration_pending_settings", .gauge, "Changed settings that need a restart.",
        state.pending.count)
    }
  }
}
