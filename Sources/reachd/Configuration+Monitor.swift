internal import ArgumentParser
internal import Logging
internal import NetworkReachability
internal import Service

extension Configuration {
  /// Starts a monitor in this process, for commands that need no service.
  ///
  /// If the kernel cannot be read, it reports the error.
  ///
  /// - Parameter isRequired: whether the command has no result without the kernel's routes.
  /// - Returns: the monitor; all its verdicts are unknown if the kernel cannot be read.
  /// - Throws: the exit code 2 if the kernel cannot be read and is required.
  func makeStartedMonitor(isRequired: Bool = true) throws -> ReachabilityMonitor {
    let monitor = ReachabilityMonitor(
      configuration: .init(
        settle: settle, nameServers: nameServers, nameTimeout: resolverTimeout,
        interfaceOverrides: interfaces,
        logger: LineLogHandler.logger(.warning, logFormat, LogWriter { Terminal.log($0) })))
    do {
      try monitor.start()
    } catch {
      let consequence = isRequired ? "" : "; the targets are checked without their routes"
      Terminal.writeError("reachd: the kernel cannot be read: \(error)\(consequence)")
      if isRequired { throw ExitStatus.undetermined }
    }
    return monitor
  }
}
