internal import ArgumentParser
internal import Dispatch
internal import EmbeddedHTTPServer
internal import History
internal import HostProcess
internal import Service

/// The entry point of the program, which keeps the process at one thread until the service is prepared (ADR 8).
@main
enum EntryPoint {
  /// With fewer, Dispatch waits forever for a thread of its own.
  private static let minimumThreads = 16

  static func main() {
    StandardStreams.fill()
    DatabaseReading.runIfRequested(CommandLine.arguments)
    // Before the probers and the HTTP servers, whose sizes depend on the limit.
    ProcessDescriptorLimit.raise()
    do {
      // Before everything else: a service manager may send SIGTERM at any time, and expects exit code 0.
      let serving = [FleetAgentCommand.configuration.commandName, FleetReplicaCommand.configuration.commandName]
      if serving.contains(CommandLine.arguments.dropFirst().first) {
        if let obstacle = ProcessUsage.obstacle(toThreads: minimumThreads) {
          FleetTerminal.writeError("reachd-fleet: \(obstacle)")
          throw FleetExitStatus.unavailable
        }
        ProcessSignals.exitOnTermination()
      } else {
        ProcessSignals.exitAsFirstProcess()
      }
      var command = try ReachdFleet.parseAsRoot()
      guard let serving = command as? any FleetServingCommand else {
        try command.run()
        ReachdFleet.exit()
      }
      serve(try serving.prepare())
    } catch {
      ReachdFleet.exit(withError: error)
    }
  }

  private static func serve(_ daemon: Daemon) -> Never {
    Task.detached {
      do {
        defer { daemon.flushLog() }
        try await daemon.serve()
        ReachdFleet.exit()
      } catch {
        FleetTerminal.writeError("reachd-fleet: \(error)")
        ReachdFleet.exit(withError: FleetExitStatus.unavailable)
      }
    }
    // Not on the main actor, whose thread waits here, and not dispatchMain(), which unblocks signals on this thread.
    while true { DispatchSemaphore(value: 0).wait() }
  }
}
