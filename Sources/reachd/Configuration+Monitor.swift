internal import ArgumentParser
internal import Logging
internal import NetworkReachability
internal import Service

extension Configuration {
  /// Starts a monitor in this process, for commands that need no service.
  ///
  /// If the kernel cannot be read, it reports the error and throws the exit code 2.
  func makeStartedMonitor() throws -> ReachabilityMonitor {
    let monitor = ReachabilityMonitor(
      configuration: .init(
        settle: settle, nameServers: nameServers, nameTimeout: resolverTimeout,
        interfaceOverrides: interfaces,
        logger: LineLogHandler.logger(.warning, logFormat, LogWriter { Terminal.log($0) })))
    do {
      try monitor.start()
    } catch {
      Terminal.writeError("reachd: the kernel cannot be read: \(error)")
      throw ExitStatus.undetermined
    }
    return monitor
  }
}
