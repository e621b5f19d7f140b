internal import Dispatch
internal import History
internal import HostProcess
internal import Logging
internal import NetworkReachability
internal import StatusAPI
internal import EmbeddedHTTPServer

extension Daemon {
  /// Logs the addresses; from now on, a client that connects is served within moments.
  func logListening() {
    for server in servers {
      logger.notice(
        "listening", metadata: ["address": "\(server.boundAddress)", "tls": .stringConvertible(server.isSecure)])
    }
    let privileges = Privileges.current
    logger.log(
      level: privileges.isNone ? .notice : .warning, "privileges",
      metadata: [
        "user": .stringConvertible(privileges.user),
        "noNewPrivileges": .stringConvertible(privileges.hasNoNewPrivileges),
        "capabilities": "0x\(String(privileges.effective | privileges.permitted, radix: 16))",
      ])
  }

  /// The longest wait for the first state: a disk delays events by 50 ms (ADR 31); the rest is for a busy machine.
  private static let firstStateLimit = Duration.seconds(1)

  /// Waits until requests get the first state, which is committed first if there is a data directory.
  func waitForFirstState() async {
    let end = ContinuousClock.now + Self.firstStateLimit
    while !service.hasState, ContinuousClock.now < end { try? await Task.sleep(for: .milliseconds(1)) }
  }

  /// Waits until the marker of the start is removed, which readiness waits for, too; for one second at most.
  func waitForEndOfStart() async {
    while data.store?.isStarting == true { try? await Task.sleep(for: .milliseconds(1)) }
  }

  /// Decides about the gates of the file and of clients: not before the first state, by which they are decided.
  func configureGates() {
    ServiceConfigurator.configureGates(service.schedule, reloading.configuration.gates, logger)
  }

  /// Reads the kernel once, so that the first response contains a verdict.
  ///
  /// Until then connections wait in the sockets, which are bound or inherited already.
  func readFirstState() async {
    DispatchQueue.global().async { [monitor] in
      // `startMonitor` repeats an attempt that failed, and reports the error.
      try? monitor.start()
    }
    await waitForFirstState()
  }

  /// Notifies the service manager, twice per watchdog interval, that every server's loop runs and the netlink loop is
  /// not stuck.
  ///
  /// A loop that is stuck in a callback does not run, and the manager restarts the service.
  func sendWatchdogHeartbeats() async {
    guard let interval = manager.watchdog else { return }
    var before: [UInt64] = []
    while !Task.isCancelled {
      let turns = servers.map(\.loopTurns)
      let diagnostic = HealthCheck.netlink(monitor).result().diagnostic
      // A stopping server ends its loop while other servers still have responses to send.
      if service.isDraining || diagnostic == nil && zip(before, turns).allSatisfy({ $0 < $1 }) {
        manager.notify("WATCHDOG=1")
      } else {
        logger.critical(
          "event loop stuck", metadata: ["reason": "\(diagnostic ?? "the event loop of a server does not run")"])
      }
      before = turns
      for server in servers { server.wake() }
      try? await Task.sleep(for: interval / 2)
    }
  }

  /// The time after the start at which its memory is released: a file of 10,000 targets was read, and each was checked.
  private static let startTime = Duration.seconds(15)

  /// Returns what the start needed to the system: the file of 10,000 targets takes 25 MB.
  static func releaseMemoryOfStart() async {
    do {
      try await Task.sleep(for: startTime)
      FreeMemory.release()
    } catch {
      // The service ends.
    }
  }
}
