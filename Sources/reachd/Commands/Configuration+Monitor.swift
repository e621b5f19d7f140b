internal import ArgumentParser
internal import Logging
internal import NetworkReachability
internal import Service

extension Configuration {
  /// A monitor in this process, for the commands that need no service; tells what the kernel says and ends with 2 when
  /// it refuses.
  func makeStartedMonitor() throws -> ReachabilityMonitor {
    let monitor = ReachabilityMonitor(
      configuration: .init(
        settle: settle, nameServers: nameServers, nameTimeout: resolverTimeout,
        interfaceOverrides: interfaces,
        logger: LineLogHandler.logger(.warning, logFormat, LogWriter { Terminal.log($0) })))
    do {
      try monitor.start()
    } catch {
      Terminal.writeError("reachd: the kernel does not answer: \(error)")
      throw ExitStatus.undetermined
    }
    return monitor
  }
}
