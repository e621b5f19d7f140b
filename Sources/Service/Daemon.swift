internal import History
package import HostProcess
internal import Logging
package import EmbeddedHTTPServer
internal import HTTPRouting
internal import ReachabilityChecks
internal import ServiceLifecycle
package import StatusAPI
internal import UnixSignals

/// Composes the service: one monitor, one HTTP service and one server per address.
package struct Daemon {
  private let settings: ServiceConfigurator
  let reloading: ConfigurationReloader
  let logger: Logger
  let monitor: ReachabilityMonitor
  let service: StatusService
  let servers: [HTTPServer]
  let manager: ServiceManager
  private let writer: LogWriter
  let data: DataDirectoryChoice
  private let part: (any ServicePart)?
  private let threads: ThreadWatch

  /// Composes all parts without starting a thread.
  package init(
    _ configuration: Configuration, from sources: ConfigurationSources, _ manager: ServiceManager, _ style: LogSettings,
    _ writer: LogWriter, _ data: DataDirectoryChoice = DataDirectoryChoice(),
    webhooks: WebhookSetup.Backend? = nil,
    adding makePart: (@Sendable (ServicePartContext) -> any ServicePart)? = nil
  ) {
    self.data = data
    let logger = LineLogHandler.logger(style, writer)
    self.manager = manager
    self.logger = logger
    self.writer = writer
    let monitor = ReachabilityMonitor(
      configuration: .init(
        settle: configuration.settle, nameServers: configuration.nameServers,
        nameTimeout: configuration.resolverTimeout, interfaceOverrides: configuration.interfaces, logger: logger))
    self.monitor = monitor
    let inherited = manager.sockets.map(HTTPServerConfiguration.init(inheriting:))
    let listeners = inherited.isEmpty ? configuration.listen.map(HTTPServerConfiguration.init(address:)) : inherited
    let addresses = listeners.map(\.address)
    let settings = ServiceConfigurator(monitor: monitor, addresses: addresses, style: style, writer: writer)
    self.settings = settings
    let service = StatusService(
      monitor: monitor, checker: Checker(monitor: monitor, isEphemeral: true), targetChecker: Checker(monitor: monitor),
      webhooks: (webhooks ?? data.store.map { .store($0) }).map {
        WebhookSetup($0, checker: Checker(monitor: monitor))
      },
      configuration: settings.makeConfiguration(configuration), history: data.store.map { HistoryKeeper($0) },
      logger: logger)
    self.service = service
    let part = makePart?(
      ServicePartContext(service: service, store: data.store, configuration: configuration, logger: logger))
    self.part = part
    let (router, quota) = (part?.router ?? Router(service), service.schedule.quota)
    servers = listeners.enumerated().map { number, listener in
      HTTPServer(
        configuration: configuration.server(listener, number, of: listeners.count) { quota.usage.memory },
        handler: { router.handle($0, listener: number) }, refusal: { router.environment.refusal($0, of: $1) },
        answered: { router.environment.answered($0) }, logger: logger)
    }
    reloading = ConfigurationReloader(
      configuration, from: sources, logger, settings.participants(service: service, servers: servers, logger))
    threads = ThreadWatch(logger)
    service.add(threads.healthCheck)
    service.add(reloading.healthCheck)
    if let store = data.store { service.add(.start(store)) }
    for source in [
      MetricCollector.daemon(servers, writer), .process(), reloading.metricCollector, threads.metricCollector,
    ] {
      service.add(source)
    }
  }

  /// Binds every address, and then drops all privileges permanently.
  ///
  /// Call it while the process has one thread.
  package func bind() throws(HTTPServerError) {
    for server in servers { try server.bind() }
    _ = Privileges.drop()
    // The policy for the service's own ports uses the ports that were bound.
    settings.ports.record(servers)
    service.change(to: settings.makeConfiguration(reloading.configuration))
  }

  /// Reserves the limits that the configuration's targets need, before a client can register a target.
  ///
  /// - Throws: the limit that the targets exceed.
  package func reserveTargets() throws(ConfigurationErrors) { try settings.reserve(reloading.configuration, service) }

  /// Writes the queued log lines, for at most one second.
  package func flushLog() { writer.flush(seconds: 1) }

  /// Serves until SIGTERM or SIGINT, then drains.
  ///
  /// - Throws: an `HTTPServerError` when a server cannot be started.
  package func serve() async throws {
    var quiet = logger
    // The service group logs its own steps before the first step here, but the address must be the first line.
    quiet.logLevel = max(.notice, logger.logLevel)
    let group = ServiceGroup(
      services: [DaemonTask(daemon: self)], gracefulShutdownSignals: [.sigterm, .sigint], logger: quiet)
    try await group.run()
  }

  private func start() throws(HTTPServerError) {
    for server in servers {
      do throws(HTTPServerError) {
        try server.start()
      } catch {
        servers.forEach { $0.stop(grace: .zero) }
        throw error
      }
    }
  }

  /// The services that run under the service group's signals: all of them, because any reader of the logged address
  /// may send a signal.
  private struct DaemonTask: Service {
    let daemon: Daemon

    func run() async throws {
      daemon.logListening()
      daemon.threads.start()
      daemon.startStore()
      // Not earlier: a schedule with targets starts threads and logs.
      ServiceConfigurator.start(daemon.service, daemon.reloading.configuration, daemon.logger)
      daemon.part?.start()
      await daemon.readFirstState()
      daemon.configureGates()
      do {
        try daemon.start()
      } catch {
        daemon.closeStore(within: .seconds(1))
        throw error
      }
      await withDiscardingTaskGroup { group in
        group.addTask { await daemon.sendWatchdogHeartbeats() }
        group.addTask { await daemon.reloading.reloadOnSIGHUP() }
        group.addTask { await Daemon.releaseMemoryOfStart() }
        await cancelWhenGracefulShutdown { await daemon.startMonitor() }
        await daemon.drain()
        group.cancelAll()
      }
    }
  }

  /// Drains: reports not ready, closes the listeners, sends each stream its close event and completes all responses.
  private func drain() async {
    let start = ContinuousClock.now
    let configuration = reloading.configuration
    // The service manager's stop timeout may be shorter than the configured one.
    let timeLimit = (configuration.grace + .seconds(5)).components.seconds * 1_000_000
    manager.notify("STOPPING=1\nEXTEND_TIMEOUT_USEC=\(timeLimit)\nSTATUS=Draining.")
    logger.notice("draining", metadata: ["delay": "\(configuration.limitedDrainDelay)"])
    service.beginDrain()
    for server in servers { server.announceClose() }
    await Self.waitForInterrupt(atMost: configuration.limitedDrainDelay)
    for server in servers { server.stopAccepting() }
    for server in servers { server.endStreams(closeEvent: StatusService.closeEvent) }
    for server in servers {
      let left = configuration.grace - (ContinuousClock.now - start)
      // It ends as soon as nothing is in progress; a check takes as long as its client allowed.
      server.stop(grace: max(.zero, left))
    }
    part?.stop()
    ServiceConfigurator.stop(service)
    service.detach()
    monitor.stop()
    closeStore(within: configuration.grace - (ContinuousClock.now - start))
    threads.stop()
    logger.notice("stopped")
  }
}
