internal import ArgumentParser
internal import HostProcess
internal import Logging
internal import NetworkReachability
internal import Service
internal import StatusAPI

/// `reachd watch`: prints a line for the present state and for every change, without a service.
struct WatchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch",
    abstract: "Print a line for the present state, and one for every change.",
    discussion: """
      Without hosts it watches the default path of this machine; with hosts, the path to each of them. It reads the kernel
      directly and needs no service. It runs until it is interrupted.

      --exec runs a command by /bin/sh for every line, one at a time and in order, with REACHD_HOST (empty for this
      machine), REACHD_STATUS, REACHD_CONNECTION_TYPE, REACHD_REASON, REACHD_INTERFACE, REACHD_GATEWAY, REACHD_SOURCE,
      REACHD_CAUSE, REACHD_INITIAL (0 or 1) and REACHD_TIME in its environment.

      EXAMPLES
        reachd watch
        reachd watch db.internal 10.0.0.9 --json
        reachd watch --exec 'logger "uplink $REACHD_STATUS $REACHD_REASON"'
      """)

  @Argument(help: "Names, addresses, default or local-link.")
  var hosts: [String] = []

  @Flag(help: "Print JSON Lines: the events of the HTTP stream, each with its type.")
  var json = false

  @Option(help: "A shell command to run for every line.")
  var exec: String?

  @Option(help: "The delay before a loss is reported. Default 10ms.")
  var settle: String?

  @OptionGroup var source: SourceOptions

  mutating func run() async throws {
    var targets: [ReachabilityTarget] = []
    for host in hosts {
      do throws(TargetError) {
        targets.append(try ReachabilityTarget(host: host))
      } catch {
        throw ValidationError("\(error)")
      }
    }
    let configuration = try source.sources([("settle", "--settle", [settle].compactMap(\.self))]).loadOrExit()
    let monitor = try configuration.makeStartedMonitor()
    let hook = exec.map(ChangeHook.init)
    // The next change may be days away, so a closed output ends the program immediately.
    StandardStreams.exitWhenOutputCloses()
    let epoch = UpdateFormatter.newEpoch()
    for await update in monitor.updates(of: targets.isEmpty ? [.status, .path] : .host, watching: targets) {
      if update.skipped > 0 {
        Terminal.writeError(
          "reachd: \(update.skipped) changes were skipped, because they came faster than they could be written")
      }
      Terminal.line(json ? UpdateFormatter.json(update, epoch: epoch) : UpdateFormatter.line(update))
      await hook?.run(update)
    }
  }
}
