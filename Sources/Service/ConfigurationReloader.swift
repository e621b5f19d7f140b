internal import Locks
internal import Logging
internal import EmbeddedHTTPServer
internal import NetworkReachability
internal import StatusAPI

/// What becomes of SIGHUP: everything is read and checked first, and only then anything changes.
///
/// On any error the configuration before it stays in force, whole. A setting that cannot change while the service runs is
/// told in the log, in `/readyz?verbose` and in `/metrics` until the restart.
final class ConfigurationReloader: Sendable {
  /// A part that takes over its settings.
  struct Participant: Sendable {
    /// Checks what it will need, such as files that a setting names, without changing anything, and returns what makes
    /// the change, which cannot fail.
    var prepare: @Sendable (Configuration) throws(ConfigurationErrors) -> @Sendable () -> Void

    /// A part whose settings need no checking beyond that of the configuration.
    init(change: @escaping @Sendable (Configuration) -> Void) {
      prepare = { (configuration) throws(ConfigurationErrors) in { change(configuration) } }
    }

    /// A part that must look before it leaps.
    init(prepare: @escaping @Sendable (Configuration) throws(ConfigurationErrors) -> @Sendable () -> Void) {
      self.prepare = prepare
    }
  }

  private struct State {
    var configuration: Configuration
    var successes = 0
    var failures = 0
    var lastSuccess = Timestamp.now
    /// When the last reload failed; nil when it did not.
    var failed: Timestamp?
    /// Settings that wait for a restart.
    var pending: [String] = []
    /// What each setting was given as that is not waiting: what is waiting and then taken back never was in force.
    var activeValues: [String: [String]]
  }

  private let sources: ConfigurationSources
  /// What the service was started with, and what a setting that is not live still is.
  private let started: Configuration
  private let participants: [Participant]
  private let logger: Logger
  private let state: Locked<State>

  /// A service that runs with `configuration`, which came from `sources`.
  init(
    _ configuration: Configuration, from sources: ConfigurationSources, _ logger: Logger, _ participants: [Participant]
  ) {
    self.sources = sources
    self.participants = participants
    self.logger = logger
    started = configuration
    state = Locked(State(configuration: configuration, activeValues: configuration.assigned))
  }

  /// The configuration that is in force, as far as its settings are live.
  var configuration: Configuration { state.withLock(\.configuration) }

  /// Reads the sources again and takes over what may change.
  func reload() {
    do throws(ConfigurationErrors) {
      let loaded = try sources.load(following: started)
      var changes: [@Sendable () -> Void] = []
      for participant in participants { changes.append(try participant.prepare(loaded)) }
      for change in changes { change() }
      succeed(loaded)
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
    logger.notice("configuration reloaded", metadata: ["changed": "\(changed.joined(separator: ","))"])
    for warning in loaded.warnings(sources.environment) { logger.warning("\(warning)") }
    if !pending.isEmpty {
      logger.warning("settings wait for a restart", metadata: ["settings": "\(pending.joined(separator: ","))"])
    }
  }

  /// The paths whose texts are not the same, in order.
  private static func difference(_ old: [String: [String]], _ new: [String: [String]]) -> [String] {
    Set(old.keys).union(new.keys).filter { old[$0] != new[$0] }.sorted()
  }

  // MARK: - Telling

  /// For `/readyz`: a service that runs by its last good configuration is ready, but somebody should look.
  var healthCheck: HealthCheck {
    HealthCheck("configuration", isWarning: true) { [self] in
      let state = state.withLock(\.self)
      // Which file and line is for the log: everybody may read this.
      if let failed = state.failed { return "the reload of \(failed) failed, the one before is in force; see the log" }
      return state.pending.isEmpty ? nil : "wait for a restart: \(state.pending.joined(separator: ", "))"
    }
  }

  /// For `/metrics`.
  var metricCollector: MetricCollector {
    MetricCollector { [self] page in
      let state = state.withLock(\.self)
      page.add(
        "reachd_configuration_reloads_total", .counter, "Times that the configuration was to be read again.",
        [.init(Double(state.successes), ["result": "success"]), .init(Double(state.failures), ["result": "failure"])])
      page.add(
        "reachd_configuration_last_reload_successful", .gauge, "Whether the last reload was one; 1 before the first.",
        state.failed == nil ? 1 : 0)
      page.add(
        "reachd_configuration_success_timestamp_seconds", .gauge, "When the configuration in force was read.",
        [.init(Double(state.lastSuccess.microseconds) / 1e6)])
      let certificates = state.configuration.listeners.compactMap { listener in
        state.configuration.identity(of: listener).map { ("\(listener.address)", $0.expires) }
      }
      page.add(
        "reachd_certificate_expiry_timestamp_seconds", .gauge, "When the certificate of an address ends.",
        certificates.map { .init(Double($1), ["listener": $0]) })
      page.add(
        "reachd_configuration_pending_settings", .gauge, "Settings that were changed and wait for a restart.",
        state.pending.count)
    }
  }
}
