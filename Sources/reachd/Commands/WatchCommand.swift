internal import ArgumentParser
internal import HostProcess
internal import Logging
internal import NetworkReachability
internal import Service
internal import StatusAPI

/// `reachd watch`: a line for the state as it is and for every change, without a service.
struct WatchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch",
    abstract: "Print a line for the state as it is, and one for every change.",
    discussion: """
      Without hosts it watches this machine's way out; with hosts, the way to each of them. It reads the kernel itself
      and needs no service. It runs until it is interrupted.

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

  @Option(help: "How long a loss waits before it is told. Default 10ms.")
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
    // The next change may be days away; whoever reads no more is not to wait for it.
    StandardStreams.exitWhenOutputCloses()
    let epoch = UpdateFormatter.newEpoch()
    for await update in monitor.updates(of: targets.isEmpty ? [.status, .path] : .host, watching: targets) {
      if update.skipped > 0 {
        Terminal.writeError("reachd: \(update.skipped) changes came faster than they could be told, and are left out")
      }
      Terminal.line(json ? UpdateFormatter.json(update, epoch: epoch) : UpdateFormatter.line(update))
      await hook?.run(update)
    }
  }
}
