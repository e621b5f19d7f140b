internal import ArgumentParser
internal import HostProcess
internal import JSONFormat
internal import StatusClient
internal import TerminalUI

/// `reachd top`: a live view of a service in a terminal.
struct TopCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "top",
    abstract: "Show this machine and all targets of a service, live.",
    usage: "reachd top [OPTIONS]",
    discussion: """
      The most urgent targets are first: down, unreachable, unknown, up, paused;
      within a state the longest first. Keys: j k or arrows select, Enter shows
      details, Esc goes back, ? lists the keys and signs, q quits.

      With --once, or if input or output is no terminal, it prints the state once:
      the verdict, the path of each family, and one line per target.

      At a replica of a fleet, the targets of the fleet are shown with the verdicts of
      its agents, besides the replica's own targets.

      EXAMPLES
        reachd top
        reachd top --url https://host:8443 --token-file token
        reachd top --once | grep ^down
      """)

  @Flag(help: "Print the state once, as plain lines.")
  var once = false

  @OptionGroup var color: ColorOption
  @OptionGroup var client: ClientOptions
  @OptionGroup var source: SourceOptions

  mutating func run() async throws {
    let environment = ProcessEnvironment.all
    let terminal = environment["TERM", default: ""]
    let isInteractive =
      ProcessTerminal.isTerminal(0) && ProcessTerminal.isTerminal(1) && !terminal.isEmpty && terminal != "dumb"
    guard !once, isInteractive else {
      ProcessTerminalSignals.unblock()
      return try printOnce()
    }
    throw try await TopDriver.run(client, source, Glyphs(environment), isColored: color.isEnabled)
  }

  private func printOnce() throws {
    var state = TopServiceState()
    let status = try answer("/status")
    state.apply(type: "snapshot", status)
    guard state.machine != nil, state.replaceTargets(try answer("/targets/overview")) else {
      throw ClientOptions.undetermined("the response is not from reachd")
    }
    // A service before 0.2 has no gates.
    if let response = try? client.send("/gates", accept: "application/json", source), response.status == 200,
      let gates = try? JSON.parse(response.body)
    {
      state.replaceGates(gates)
    }
    var fleet: [TopTargetEntry] = []
    try client.forEachFleetPage(source) { page, _ in
      fleet += (page["targets"]?.elements ?? []).compactMap(TopTargetEntry.init(fleet:))
    }
    state.replaceFleet(fleet)
    for line in PlainTopScreen.lines(state) { Terminal.line(color.colored(line, within: 2)) }
  }

  private func answer(_ path: String) throws -> JSON {
    let response = try client.sendOrExit("GET", path, source)
    guard response.status == 200, let document = try? JSON.parse(response.body) else {
      throw ClientOptions.unexpected(response)
    }
    return document
  }
}
