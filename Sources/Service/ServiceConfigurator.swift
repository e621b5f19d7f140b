internal import HostProcess
internal import Locks
internal import Logging
internal import EmbeddedHTTPServer
internal import NetworkReachability
internal import ReachabilityChecks
internal import StatusAPI

/// How a configuration becomes the settings of the service's parts: at the start, and again with every reload.
struct ServiceConfigurator: Sendable {
  var monitor: ReachabilityMonitor
  /// Where the servers listen, in their order.
  var addresses: [ListenAddress]
  var style: LogSettings
  var writer: LogWriter
  /// The ports that are this service's own.
  let ports = BoundPortSet()

  /// The settings of the HTTP service.
  func makeConfiguration(_ configuration: Configuration) -> StatusService.Configuration {
    // Whoever wants an access log wants it whatever else is logged.
    var access = LineLogHandler.logger(style, writer)
    access.logLevel = .info
    var contacts = configuration.contactPolicy
    contacts.ownPorts = ports.all
    return StatusService.Configuration(
      allowedHosts: configuration.allowedHosts, allowedOrigins: configuration.allowedOrigins,
      access: configuration.accessPolicy(at: addresses), modules: configuration.modules,
      contactPolicy: contacts, accessLog: configuration.logsAccess ? access : nil,
      limits: configuration.scheduleLimits,
      resolverTimeout: configuration.resolverTimeout, machine: HostName.current, version: Version.current,
      liveChecks: [.netlink(monitor)])
  }

  /// What a reload changes; a part with live settings has its step here (``Setting/reloadable``).
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
        let limits = HTTPServer.Configuration(address: Configuration.defaultListen)
        for (number, server) in servers.enumerated() {
          // Its files were read, and found to be good, with the configuration.
          let listener = configuration.listener(number, at: addresses[number])
          if let identity = configuration.identity(of: listener) { server.replaceIdentity(identity) }
          server.limit(
            streams: configuration.streamLimit ?? limits.streamLimit,
            requestBody: configuration.requestBodyLimit ?? limits.requestBodyLimit)
        }
      }),
      // The last one: what it reserves would stay so if another step refused the configuration.
      ConfigurationReloader.Participant(prepare: { (configuration) throws(ConfigurationErrors) in
        try reserve(configuration, service)
        return { Self.configure(service.schedule, configuration.targets, logger) }
      }),
    ]
  }

  /// Reserves the share of the limits that the targets of a configuration need.
  ///
  /// - Throws: the limit that they exceed.
  func reserve(_ configuration: Configuration, _ service: StatusService) throws(ConfigurationErrors) {
    do throws(QuotaExcess) {
      try service.reserve(configuration.targets, makeConfiguration(configuration))
    } catch {
      let (file, callers) = (configuration.targets.count, service.schedule.callersTargets)
      throw ConfigurationErrors(errors: [
        ConfigurationError(
          location: "configuration", path: "targets",
          problem: "the \(file) targets do not fit beside the \(callers) targets of callers", hint: "\(error)")
      ])
    }
  }

  /// Has the targets of a configuration checked, and no longer those of the one before.
  static func configure(_ schedule: CheckSchedule, _ targets: [TargetDefinition], _ logger: Logger) {
    let found: TargetConfigurationResult
    do throws(QuotaExcess) {
      found = try schedule.configure(targets)
    } catch {
      // Their share is reserved before: only a mistake of this program comes here.
      logger.critical("targets not configured", metadata: ["error": "\(error)"])
      return
    }
    for id in found.takenOver {
      logger.warning("the file takes over a target that a caller had registered", metadata: ["target": "\(id)"])
    }
  }
}

/// The ports that the servers have: those of port 0 are known when they are bound.
final class BoundPortSet: Sendable {
  private let ports = Locked<Set<UInt16>>([])

  /// None before they are bound.
  var all: Set<UInt16> { ports.withLock(\.self) }

  /// Notes those of servers that are bound.
  func record(_ servers: [HTTPServer]) {
    let bound = Set(servers.map(\.boundAddress.port).filter { $0 > 0 })
    ports.withLock { $0 = bound }
  }
}

extension HealthCheck {
  /// Three times the thread's rest: a machine that was stopped for seconds is no reason to restart it.
  private static let stallLimit = Duration.seconds(30)

  /// That the thread which reads the kernel is not stuck; that the HTTP thread is not, the answer itself shows.
  static func netlink(_ monitor: ReachabilityMonitor) -> HealthCheck {
    HealthCheck("netlink") {
      guard let silence = monitor.timeSinceProgress, silence > stallLimit else { return nil }
      return "the kernel's thread has not moved for \(silence.components.seconds) s"
    }
  }
}
