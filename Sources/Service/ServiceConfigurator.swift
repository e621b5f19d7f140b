internal import HostProcess
internal import Locks
internal import Logging
internal import HTTPRouting
internal import ReachabilityChecks
internal import StatusAPI
internal import Webhooks

/// Converts a configuration to the settings of the service's parts, at the start and at each reload.
struct ServiceConfigurator: Sendable {
  var monitor: ReachabilityMonitor
  /// The addresses of the servers, in order.
  var addresses: [ListenAddress]
  var style: LogSettings
  var writer: LogWriter
  let ports = BoundPortSet()

  /// The settings of the HTTP service.
  func makeConfiguration(_ configuration: Configuration) -> StatusServiceConfiguration {
    // The access log is written at any log level.
    var access = LineLogHandler.logger(style, writer)
    access.logLevel = .info
    var settings = StatusServiceConfiguration()
    settings.allowedHosts = configuration.allowedHosts
    settings.allowedOrigins = configuration.allowedOrigins
    settings.access = configuration.accessPolicy(at: addresses)
    settings.modules = configuration.modules
    settings.contactPolicy = configuration.contactPolicy
    settings.contactPolicy.ownPorts = ports.all
    settings.accessLog = configuration.logsAccess ? access : nil
    settings.limits = configuration.scheduleLimits
    settings.metricLabels = configuration.metricLabels
    settings.resolverTimeout = configuration.resolverTimeout
    settings.machine = HostName.current
    settings.version = ServiceVersion.current
    settings.commit = ServiceVersion.commit
    settings.liveChecks = [.netlink(monitor)]
    settings.servesPage = configuration.servesPage
    return settings
  }

  /// The changes of a reload; each part with live settings has a step here (``Setting/reloadable``).
  func participants(service: StatusService, servers: [HTTPServer], _ logger: Logger) -> [ConfigurationReloader
    .Participant]
  {
    [
      ConfigurationReloader.Participant(change: { style.change($0.logLevel, $0.logFormat) }),
      ConfigurationReloader.Participant(change: { configuration in
        monitor.settle = configuration.settle
        monitor.nameTimeout = configuration.resolverTimeout
      }),
      ConfigurationReloader.Participant(change: { service.change(to: makeConfiguration($0)) }),
      ConfigurationReloader.Participant(change: { configuration in
        let limits = HTTPServerConfiguration(address: Configuration.defaultListen)
        for (number, server) in servers.enumerated() {
          // The files were read and validated with the configuration.
          let listener = configuration.listener(number, at: addresses[number])
          if let identity = configuration.identity(of: listener) { server.replaceIdentity(identity) }
          server.limit(
            streams: configuration.streamLimit ?? limits.streamLimit,
            requestBody: configuration.requestBodyLimit ?? limits.requestBodyLimit)
        }
      }),
      // The last step, because its reservation would remain if another step rejected the configuration.
      ConfigurationReloader.Participant(prepare: { (configuration) throws(ConfigurationErrors) in
        try reserve(configuration, service)
        return {
          // A gate would close, and be open a second later at the earliest, when a target is removed that it no longer names.
          service.schedule.gates.holdUntilConfigured()
          Self.configure(service.schedule, configuration.targets, logger)
          Self.configureGates(service.schedule, configuration.gates, logger)
          service.webhooks?.configure(configuration.webhooks)
        }
      }),
    ]
  }

  /// Reserves the part of the limits that the targets of a configuration need.
  ///
  /// - Throws: the limit that the targets exceed, or that webhooks have no store.
  func reserve(_ configuration: Configuration, _ service: StatusService) throws(ConfigurationErrors) {
    // Without it a restart would lose events without a notice to the receivers.
    guard configuration.webhooks.isEmpty || service.webhooks != nil else {
      throw ConfigurationErrors(errors: [
        ConfigurationError(
          location: "configuration", path: "webhooks",
          problem: "webhooks need a data directory, which stores how far each receiver is",
          hint: "give one by data, --data, or StateDirectory= in the systemd unit")
      ])
    }
    do throws(QuotaExcess) {
      try service.reserve(configuration.targets, makeConfiguration(configuration))
    } catch {
      let (file, others) = (configuration.targets.count, service.schedule.quota.otherTargets)
      throw ConfigurationErrors(errors: [
        ConfigurationError(
          location: "configuration", path: "targets",
          problem: "the \(file) targets of the file and the \(others) of clients and the fleet exceed the limits",
          hint: "\(error)")
      ])
    }
  }

  /// Starts the parts of the service that act on their own: the schedule and the webhooks.
  static func start(_ service: StatusService, _ configuration: Configuration, _ logger: Logger) {
    configure(service.schedule, configuration.targets, logger)
    service.webhooks?.configure(configuration.webhooks)
    service.webhooks?.start()
  }

  /// Puts the gates of a configuration in place of those of the previous one, when its targets are scheduled.
  static func configureGates(_ schedule: CheckSchedule, _ gates: [GateDefinition], _ logger: Logger) {
    schedule.gates.configure(gates)
    for gate in gates {
      let missing = gate.targets.sorted().filter { schedule.report(of: $0) == nil }
      guard !missing.isEmpty else { continue }
      // A client may register them later.
      logger.warning(
        "a gate names targets that do not exist; it is closed until they are registered",
        metadata: ["gate": "\(gate.id)", "targets": "\(missing.prefix(16).joined(separator: ","))"])
    }
  }

  /// Stops what ``start(_:_:_:)`` has started.
  static func stop(_ service: StatusService) {
    service.webhooks?.stop()
    service.schedule.stop()
  }

  /// Schedules the targets of a configuration in place of those of the previous configuration.
  static func configure(_ schedule: CheckSchedule, _ targets: [TargetDefinition], _ logger: Logger) {
    let found: TargetConfigurationResult
    do throws(QuotaExcess) {
      found = try schedule.configure(targets)
    } catch {
      // The limits were reserved before, so only a programming error reaches this line.
      logger.critical("targets not configured", metadata: ["error": "\(error)"])
      return
    }
    for id in found.takenOver {
      logger.warning("a target of the file replaces a registered target", metadata: ["target": "\(id)"])
    }
    for (id, parents) in found.removedDependencies.sorted(by: { $0.key < $1.key }) {
      logger.warning(
        "a registered target cannot depend on other targets any more",
        metadata: ["target": "\(id)", "removed": "\(parents.joined(separator: ", "))"])
    }
  }
}

/// The ports of the servers; port 0 gets its number when it is bound.
final class BoundPortSet: Sendable {
  private let ports = Locked<Set<UInt16>>([])

  /// The ports; empty before the servers are bound.
  var all: Set<UInt16> { ports.withLock(\.self) }

  func record(_ servers: [HTTPServer]) {
    let bound = Set(servers.map(\.boundAddress.port).filter { $0 > 0 })
    ports.withLock { $0 = bound }
  }
}

extension HealthCheck {
  /// Three times the loop's longest idle wait: a machine that was suspended for seconds needs no restart.
  static let stallLimit = Duration.seconds(30)

  /// Checks that the netlink thread is not stuck; the response itself proves that the HTTP thread is not.
  static func netlink(_ monitor: ReachabilityMonitor) -> HealthCheck {
    HealthCheck("netlink") {
      guard let silence = monitor.timeSinceProgress, silence > stallLimit else { return nil }
      return "the netlink thread has made no progress for \(silence.components.seconds) s"
    }
  }
}
