internal import ArgumentParser
internal import JSONFormat
internal import ReachabilityModel
internal import StatusAPI

/// `reachd targets list`, which is also `reachd targets`.
struct TargetsListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List targets: exit 0 all are up, 1 at least one is not, 2 undetermined.",
    usage: "reachd targets [list] [OPTIONS]",
    discussion: """
      One line per target: its state, id and target, why it is not up, and since when.
      Paused targets are listed, and do not affect the exit code.

      EXAMPLES
        reachd targets list
        reachd targets --label env=prod,team --json | jq '.targets[].id'
      """)

  @Option(
    help: "Only targets in these states: up, down, unreachable, unknown, paused.",
    completion: .list(TargetState.allCases.map(\.rawValue)))
  var state: String?

  @Option(help: "Only targets with these labels, such as env=prod,team.")
  var label: String?

  @Flag(help: "Print the documents of GET /targets, one page per line.")
  var json = false

  @OptionGroup var client: ClientOptions
  @OptionGroup var source: SourceOptions

  mutating func run() async throws {
    var states: Set<TargetState> = []
    try client.forEachTargetPage([("state", state), ("label", label)], source) { page, text in
      for item in page["targets"]?.elements ?? [] {
        guard let (state, line) = TargetFormatter.line(item) else {
          throw ClientOptions.undetermined("the response is not a list of targets")
        }
        states.insert(state)
        if !json { Terminal.line(line) }
      }
      if json { Terminal.line(text) }
    }
    if !states.isDisjoint(with: [.down, .unreachable]) { throw ExitStatus.negative }
    if states.contains(.unknown) { throw ExitStatus.undetermined }
  }
}
