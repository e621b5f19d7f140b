internal import Dispatch
internal import HostProcess
internal import Logging
internal import MicroHTTP
internal import NetworkReachability
internal import ReachabilityChecks
internal import ServiceLifecycle
internal import StatusAPI
internal import UnixSignals

/// The composition of the service: one monitor, one HTTP service, one server an address.
///
/// It only composes.
struct Daemon {
  private let settings: ServiceSettings
  private let reloading: Reloading
  let logger: Logger
  private let monitor: ReachabilityMonitor
  private let service: StatusService
  let servers: [HTTPServer]
  private let manager: ServiceManager
  private let writer: LogWriter

  /// The waits between attempts to open the kernel: they begin short, because a machine that boots settles soon.
  private static let retries: [Duration] = [.seconds(1), .seconds(2), .seconds(5), .seconds(10), .seconds(30)]

  /// Puts everything together; starts no thread yet.
  init(
    _ configuration: Configuration, from sources: ConfigurationSources, _ manager: ServiceManager, _ style: LogStyle,
    _ writer: LogWriter
  ) {
    let logger = LogOutput.logger(style, writer)
    self.manager = manager
    self.logger = logger
    self.writer = writer
    let monitor = ReachabilityMonitor(
      configuration: .init(
        settle: configuration.settle, nameServers: configuration.nameServers,
        nameTimeout: configuration.resolverTimeout, interfaceOverrides: configuration.interfaces, logger: logger))
    self.monitor = monitor
    let inherited = manager.sockets.map(HTTPServer.Configuration.init(inheriting:))
    let listeners = inherited.isEmpty ? configuration.listen.map(HTTPServer.Configuration.init(address:)) : inherited
    let addresses = listeners.map(\.address)
    let settings = ServiceSettings(monitor: monitor, addresses: addresses, style: style, writer: writer)
    self.settings = settings
    let service = StatusService(
      monitor: monitor, checker: Checker(monitor: monitor, isEphemeral: true), registered: Checker(monitor: monitor),
      configuration: settings.of(configuration), logger: logger)
    self.service = service
    servers = listeners.enumerated().map { number, listener in
      HTTPServer(
        configuration: configuration.server(listener, number, of: listeners.count),
        handler: { service.handle($0, listener: number) }, refusal: { service.refusal($0, of: $1) },
        answered: { service.answered($0) }, logger: logger)
    }
    reloading = Reloading(
      configuration, from: sources, logger, settings.steps(service: service, servers: servers, logger))
    service.add(reloading.check)
    for source in [MetricSource.daemon(servers, writer), .process(), reloading.metrics] { service.add(source) }
  }

  /// Binds every address, and then gives up all privileges for good.
  ///
  /// To be called while the process has one thread.
  func bind() throws(HTTPServerError) {
    for server in servers { try server.bind() }
    _ = Privileges.drop()
    // What the policy says of our own ports goes by those that were bound.
    settings.ports.note(servers)
    service.change(to: settings.of(reloading.configuration))
  }

  /// Reserves what the targets of the configuration need, before a caller can register any.
  ///
  /// - Throws: the limit that they exceed.
  func reserveTargets() throws(ConfigurationErrors) { try settings.reserve(reloading.configuration, service) }

  /// Writes what is still to be logged, within a second.
  func flushLog() { writer.flush(seconds: 1) }

  /// Serves until SIGTERM or SIGINT, then drains.
  ///
  /// - Throws: an `HTTPServerError` when a server cannot be started.
  func serve() async throws {
    var quiet = logger
    // The group tells of its own steps, before the first of ours: the first line is to be the address.
    quiet.logLevel = max(.notice, logger.logLevel)
    let group = ServiceGroup(
      services: [Life(daemon: self)], gracefulShutdownSignals: [.sigterm, .sigint], logger: quiet)
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

  /// What runs under the service group's signals: everything, because whoever sees the address in the log may send one.
  private struct Life: Service {
    let daemon: Daemon

    func run() async throws {
      daemon.announce()
      // Not earlier: a schedule with targets has threads, and something to say.
      ServiceSettings.configure(daemon.service.schedule, daemon.reloading.configuration.targets, daemon.logger)
      try daemon.start()
      await withDiscardingTaskGroup { group in
        group.addTask { await daemon.showLife() }
        group.addTask { await daemon.hearHangups() }
        await cancelWhenGracefulShutdown { await daemon.watchKernel() }
        await daemon.drain()
        group.cancelAll()
      }
    }
  }

  /// Opens the kernel, again and again if it refuses, and then waits for the end.
  private func watchKernel() async {
    var retries = Self.retries.makeIterator()
    var wait = Self.retries.last ?? .seconds(30)
    while !Task.isCancelled {
      do throws(KernelError) {
        try monitor.start()
        manager.tell("READY=1\nSTATUS=Serving.")
        break
      } catch {
        wait = retries.next() ?? wait
        manager.tell("STATUS=The kernel is unavailable: \(error)")
        logger.error("kernel unavailable", metadata: ["error": "\(error)", "retryIn": "\(wait)"])
        try? await Task.sleep(for: wait)
      }
    }
    try? await gracefulShutdown()
  }

  /// Tells the service manager, twice in its interval, that every server's loop has turned and the kernel's is not stuck.
  ///
  /// A loop that is stuck in a callback does not turn, and the manager starts the service anew.
  private func showLife() async {
    guard let interval = manager.watchdog else { return }
    var before: [UInt64] = []
    while !Task.isCancelled {
      let turns = servers.map(\.loopTurns)
      let complaint = HealthCheck.netlink(monitor).complaint()
      // Servers that are told to stop turn no more once they have, while others still have answers to give.
      if service.isDraining || complaint == nil && zip(before, turns).allSatisfy({ $0 < $1 }) {
        manager.tell("WATCHDOG=1")
      } else {
        logger.critical("no sign of life", metadata: ["reason": "\(complaint ?? "a server does not move")"])
      }
      before = turns
      for server in servers { server.wake() }
      try? await Task.sleep(for: interval / 2)
    }
  }

  /// SIGHUP has the configuration read again.
  private func hearHangups() async {
    // On a queue of its own: a file on a server that is gone is not to hold up the end of this process. What is signalled
    // while one reload is under way is one more, however often.
    let source = DispatchSource.makeUserDataOrSource(queue: DispatchQueue(label: "reload"))
    source.setEventHandler { [reloading] in reloading.reload() }
    source.activate()
    for await _ in await UnixSignalsSequence(trapping: .sighup) { source.or(data: 1) }
    source.cancel()
  }

  /// Not ready, then no new connections, then farewell to the streams, then the last answers.
  private func drain() async {
    let start = ContinuousClock.now
    let configuration = reloading.configuration
    // The manager's own patience may be shorter than what was configured here.
    let patience = (configuration.grace + .seconds(5)).components.seconds * 1_000_000
    manager.tell("STOPPING=1\nEXTEND_TIMEOUT_USEC=\(patience)\nSTATUS=Draining.")
    logger.notice("draining", metadata: ["delay": "\(configuration.drainDelay)"])
    service.beginDrain()
    for server in servers { server.part() }
    try? await Task.sleep(for: min(configuration.drainDelay, configuration.grace))
    for server in servers { server.stopAccepting() }
    for server in servers { server.endStreams(farewell: StatusService.farewell) }
    for server in servers {
      let left = configuration.grace - (ContinuousClock.now - start)
      // It ends as soon as nothing is under way; checks take as long as those who asked for them allowed.
      server.stop(grace: max(.zero, left))
    }
    service.schedule.stop()
    monitor.stop()
    logger.notice("stopped")
  }
}
