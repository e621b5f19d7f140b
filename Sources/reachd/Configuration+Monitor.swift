internal import ArgumentParser
internal import Logging
internal import NetworkReachability

extension Configuration {
  /// A monitor in this process, for the commands that need no service; tells what the kernel says and ends with 2 when
  /// it refuses.
  func startedMonitor() throws -> ReachabilityMonitor {
    let monitor = ReachabilityMonitor(
      configuration: .init(
        settle: settle, nameServers: nameServers, nameTimeout: resolverTimeout,
        interfaceOverrides: interfaces,
        logger: LogOutput.logger(.warning, logFormat)))
    do {
      try monitor.start()
    } catch {
      Terminal.complain("reachd: the kernel does not answer: \(error)")
      throw Exit.unclear
    }
    return monitor
  }
}
