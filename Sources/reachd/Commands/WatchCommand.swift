internal import ArgumentParser
internal import HostProcess
internal import Logging
internal import NetworkReachability
internal import Service
internal import StatusClient

/// `reachd watch`: prints a line for the present state and for every change, from the kernel or from a service.
struct WatchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch",
    abstract: "Print a line for the present state, and one for every change.",
    usage: "reachd watch [HOST ...] [OPTIONS]",
    discussion: """
      Without hosts it watches the default path of this machine; with hosts, the path
      to each of them. It reads the kernel directly and needs no service. With --url
      it prints the state and the changes of the machine of that service, and
      reconnects when the connection is lost. It runs until it is interrupted.

      --exec runs a command by /bin/sh for every line, one at a time and in order,
      with REACHD_HOST (empty for the machine), REACHD_STATUS,
      REACHD_CONNECTION_TYPE, REACHD_REASON, REACHD_INTERFACE, REACHD_GATEWAY,
      REACHD_SOURCE, REACHD_CAUSE, REACHD_INITIAL (0 or 1) and REACHD_TIME in its
      environment.

      EXAMPLES
        reachd watch
        reachd watch db.internal 10.0.0.9 --json
        reachd watch --url http://10.0.0.5:8080
        reachd watch --exec 'logger "uplink $REACHD_STATUS $REACHD_REASON"'
      """)

  @Argument(help: "Names, addresses, default or local-link.")
  var hosts: [String] = []

  @Flag(help: "Print JSON Lines: the events of the HTTP stream, each with its type.")
  var json = false

  @Option(help: "A shell command to run for every line.")
  var exec: String?

  @Option(help: "The delay before a loss is reported. Default 10ms. Not with --url.")
  var settle: String?

  @OptionGroup var color: ColorOption
  @OptionGroup var client: ClientOptions
  @OptionGroup var source: SourceOptions

  func validate() throws {
    _ = try targets()
    // An empty value comes from an unset variable of a script.
    if exec == "" { throw ValidationError("--exec is empty; expected a shell command") }
    guard client.url != nil else {
      if client.cacert != nil || client.tokenFile != nil {
        throw ValidationError("--cacert and --token-file require --url")
      }
      return
    }
    if settle != nil { throw ValidationError("--settle has no effect with --url; the service has its own setting") }
  }

  /// The maximum number of words before the status in a line: the time, and the host if there is one.
  static let wordsBeforeStatus = 2

  private func targets() throws -> [ReachabilityTarget] {
    try hosts.map { host in
      do throws(TargetError) {
        return try ReachabilityTarget(host: host)
      } catch {
        throw ValidationError("\(error)")
      }
    }
  }

  mutating func run() async throws {
    let targets = try targets()
    let hook = exec.map(ChangeHook.init)
    guard client.url == nil else {
      throw await RemoteWatch(client: client, source: source, hosts: hosts, isJSON: json, color: color, hook: hook)
        .run()
    }
    let configuration = try source.sources([("settle", "--settle", [settle].compactMap(\.self))]).loadOrExit()
    let monitor = try configuration.makeStartedMonitor()
    // A write detects a closed output, but the next change may be days away.
    StandardStreams.exitWhenOutputCloses()
    let epoch = UpdateFormatter.newEpoch()
    for await update in monitor.updates(of: targets.isEmpty ? [.status, .path] : .host, watching: targets) {
      if update.skipped > 0 {
        Terminal.writeError(
          "reachd: \(update.skipped) changes were skipped, because they came faster than they could be written")
      }
      let line = UpdateFormatter.line(update)
      Terminal.line(
        json ? UpdateFormatter.json(update, epoch: epoch) : color.colored(line, within: Self.wordsBeforeStatus + 1))
      await hook?.run(UpdateFormatter.facts(update))
    }
  }
}
