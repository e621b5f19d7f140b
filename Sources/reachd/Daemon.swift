internal import HostProcess
internal import Logging
internal import MicroHTTP
internal import NetworkReachability
internal import ServiceLifecycle
internal import StatusAPI
internal import UnixSignals

/// The composition of the service: one monitor, one HTTP service, one server an address.
///
/// It only composes.
struct Daemon {
  private let configuration: Configuration
  private let logger: Logger
  private let monitor: ReachabilityMonitor
  private let service: StatusService
  private let servers: [HTTPServer]

  /// The waits between attempts to open the kernel: they begin short, because a machine that boots settles soon.
  private static let retries: [Duration] = [.seconds(1), .seconds(2), .seconds(5), .seconds(10), .seconds(30)]
  /// How long streams get to take their farewell, and requests to finish, of the grace.
  private static let farewellTime = Duration.seconds(1)

  init(_ configuration: Configuration, _ logger: Logger) {
    self.configuration = configuration
    self.logger = logger
    monitor = ReachabilityMonitor(
      configuration: .init(settle: configuration.settle, nameServers: configuration.nameServers, logger: logger))
    let service = StatusService(
      monitor: monitor,
      configuration: .init(
        allowedHosts: configuration.allowedHosts, resolverTimeout: configuration.resolverTimeout,
        version: Version.current, liveChecks: [Self.netlinkCheck(monitor)]),
      logger: logger)
    self.service = service
    servers = configuration.listen.map { address in
      HTTPServer(
        configuration: Self.serverConfiguration(address, configuration), handler: { service.handle($0) },
        refusal: { service.refusal($0) }, logger: logger)
    }
  }

  /// Three times the thread's rest: a machine that was stopped for seconds is no reason to restart it.
  private static let longestSilence = Duration.seconds(30)

  /// That the thread which reads the kernel is not stuck; that the HTTP thread is not, the answer itself shows.
  private static func netlinkCheck(_ monitor: ReachabilityMonitor) -> HealthCheck {
    HealthCheck("netlink") {
      guard let silence = monitor.sinceProgress, silence > longestSilence else { return nil }
      return "the kernel's thread has not moved for \(silence.components.seconds) s"
    }
  }

  private static func serverConfiguration(
    _ address: ListenAddress, _ configuration: Configuration
  ) -> HTTPServer.Configuration {
    var server = HTTPServer.Configuration(address: address)
    if let limit = configuration.connectionLimit { server.connectionLimit = limit }
    if let limit = configuration.streamLimit { server.streamLimit = limit }
    if let limit = configuration.requestBodyLimit { server.requestBodyLimit = limit }
    return server
  }

  /// Serves until SIGTERM or SIGINT, then drains.
  ///
  /// - Throws: an `HTTPServerError` when an address cannot be listened on.
  func serve() async throws {
    ProcessSignals.ignoreBrokenPipes()
    var quiet = logger
    // The group tells of its own steps, before the first of ours: the first line is to be the address.
    quiet.logLevel = max(.notice, logger.logLevel)
    let group = ServiceGroup(
      services: [Life(daemon: self)], gracefulShutdownSignals: [.sigterm, .sigint], logger: quiet)
    try await group.run()
  }

  private func listen() throws(HTTPServerError) {
    for (index, server) in servers.enumerated() {
      do throws(HTTPServerError) {
        try server.start()
      } catch {
        servers[..<index].forEach { $0.stop(grace: .zero) }
        throw error
      }
      logger.notice("listening", metadata: ["address": "\(server.boundAddress)"])
    }
  }

  /// What runs under the service group's signals: everything, because whoever sees the address in the log may send one.
  private struct Life: Service {
    let daemon: Daemon

    func run() async throws {
      try daemon.listen()
      await cancelWhenGracefulShutdown { await daemon.watchKernel() }
      await daemon.drain()
    }
  }

  /// Opens the kernel, again and again if it refuses, and then waits for the end.
  private func watchKernel() async {
    var retries = Self.retries.makeIterator()
    var wait = Self.retries.last ?? .seconds(30)
    while !Task.isCancelled {
      do throws(KernelError) {
        try monitor.start()
        break
      } catch {
        wait = retries.next() ?? wait
        logger.error("kernel unavailable", metadata: ["error": "\(error)", "retryIn": "\(wait)"])
        try? await Task.sleep(for: wait)
      }
    }
    try? await gracefulShutdown()
  }

  /// Not ready, then no new connections, then farewell to the streams, then the last answers.
  private func drain() async {
    let start = ContinuousClock.now
    logger.notice("draining", metadata: ["delay": "\(configuration.drainDelay)"])
    service.beginDrain()
    try? await Task.sleep(for: min(configuration.drainDelay, configuration.grace))
    for server in servers { server.stopAccepting() }
    for server in servers { server.endStreams(farewell: StatusService.farewell) }
    for server in servers {
      let left = configuration.grace - (ContinuousClock.now - start)
      server.stop(grace: max(.zero, min(left, Self.farewellTime + Self.farewellTime)))
    }
    monitor.stop()
    logger.notice("stopped")
  }
}
