internal import ArgumentParser
internal import JSONFormat
internal import ReachabilityModel
internal import StatusClient
internal import TerminalUI
internal import TextSyntax

/// `reachd targets list`, which is also `reachd targets`.
struct TargetsListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List targets: exit 0 all are up, 1 at least one is not, 2 undetermined.",
    usage: "reachd targets [list] [OPTIONS]",
    discussion: """
      One line per target: its state, id and target, why it is not up, and since
      when. Paused targets are listed, and do not affect the exit code. At a replica
      of a fleet, the targets of the fleet follow, with the verdicts of its agents.

      EXAMPLES
        reachd targets list
        reachd targets --tree
        reachd targets --label env=prod,team --json | jq '.targets[].id'
        reachd targets --since 24h
        reachd targets --since 2026-10 --time-zone Europe/Berlin
      """)

  @Option(
    help: "Only targets in these states: up, down, unreachable, unknown, paused; of a fleet also partial.",
    completion: .list(FleetFormatter.verdicts))
  var state: String?

  @Option(help: "Only targets with these labels, such as env=prod,team.")
  var label: String?

  @Option(
    help: "Also print the availability over a time or a month that is over: 24h, 2026-10; needs a data directory.")
  var since: String?

  @Option(help: "The time zone of a month in --since, such as Europe/Berlin. (default: UTC)")
  var timeZone: String?

  @Flag(help: "Print targets below those that they depend on.")
  var tree = false

  @Flag(help: "Print the documents of GET /targets, one page per line; with --since also of GET /uptime.")
  var json = false

  @OptionGroup var color: ColorOption
  @OptionGroup var client: ClientOptions
  @OptionGroup var source: SourceOptions

  func validate() throws {
    if tree, json { throw ValidationError("--tree and --json cannot be combined") }
    if timeZone != nil, since == nil { throw ValidationError("--time-zone needs a month in --since, such as 2026-10") }
    for part in label?.split(separator: ",", omittingEmptySubsequences: false) ?? [] {
      let name = String(part.prefix { $0 != "=" })
      guard TargetSpec.isLabelName(name) else {
        throw ValidationError(
          "--label must be a list of NAME=VALUE or NAME, such as env=prod,team; got \(part.debugDescription)")
      }
    }
  }

  mutating func run() throws {
    let selected = state?.split(separator: ",").map(String.init)
    // Targets of a machine are never partial.
    let own = selected?.filter { $0 != Self.partial }
    let states = selected == [Self.partial] ? [] : try listOwn(own?.joined(separator: ",") ?? state)
    let verdicts = try listFleet(selected)
    if !states.isDisjoint(with: [.down, .unreachable])
      || !verdicts.isDisjoint(with: ["down", "partial", "unreachable"])
    {
      throw ExitStatus.negative
    }
    if states.contains(.unknown) || verdicts.contains("unknown") { throw ExitStatus.undetermined }
  }

  /// Prints the targets of the service, and returns their states.
  private func listOwn(_ state: String?) throws -> Set<TargetState> {
    let uptimes = try since.map { try self.uptimes($0) } ?? [:]
    var states: Set<TargetState> = []
    var lines = TargetTree()
    try client.forEachTargetPage([("state", state), ("label", label)], source) { page, text in
      for item in page["targets"]?.elements ?? [] {
        guard let (state, line) = TargetFormatter.line(item) else {
          throw ClientOptions.undetermined("the response is not a list of targets")
        }
        states.insert(state)
        let uptime = item["id"]?.string.flatMap { uptimes[$0] }.map { " \($0)" } ?? ""
        if tree { lines.add(item, line + uptime) } else if !json { Terminal.line(color.colored(line + uptime)) }
      }
      if json { Terminal.json(text) }
    }
    for line in lines.lines { Terminal.line(line.indent + color.colored(line.text)) }
    return states
  }

  /// Prints the targets of the fleet, if the service is a replica, and returns their verdicts.
  private func listFleet(_ selected: [String]?) throws -> Set<String> {
    var verdicts: Set<String> = []
    // One verdict at most is a parameter.
    let verdict = selected?.count == 1 ? selected?.first : nil
    let isReplica = try client.forEachFleetPage(verdict: verdict, source) { page, text in
      for item in page["targets"]?.elements ?? [] where hasLabels(item) {
        guard let (verdict, line) = FleetFormatter.line(item) else {
          throw ClientOptions.undetermined("the response is not a list of targets of a fleet")
        }
        guard selected?.contains(verdict) ?? true else { continue }
        verdicts.insert(verdict)
        if !json { Terminal.line(color.colored(line)) }
      }
      if json { Terminal.json(text) }
    }
    if selected == [Self.partial], !isReplica {
      throw ClientOptions.undetermined("only targets of a fleet can be partial, and the service is no replica of one")
    }
    return verdicts
  }

  private func hasLabels(_ document: JSON) -> Bool {
    (label?.split(separator: ",") ?? []).allSatisfy { part in
      let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let value = document["labels"]?[String(pair[0])]?.string else { return false }
      return pair.count == 1 || value == pair[1]
    }
  }

  /// The verdict that targets of a machine do not have.
  private static let partial = "partial"

  /// The largest number of targets per page that a service allows here.
  private static let page = 10_000
  /// The limit of pages, which allows more targets than a service can have.
  private static let pages = 1_000

  /// Requests the uptimes of the targets by their ids, and prints the documents with `--json`.
  private func uptimes(_ window: String) throws -> [String: String] {
    var found: [String: String] = [:]
    var cursor: String?
    for _ in 0..<Self.pages {
      let query = [
        ("window", window), ("timeZone", timeZone), ("limit", String(Self.page)), ("label", label), ("cursor", cursor),
      ].compactMap { name, value in value.map { "\(name)=\(PercentEncoding.encoded($0))" } }
      let page = try client.document("/uptime?" + query.joined(separator: "&"), member: "targets", source)
      if json { Terminal.line(String(decoding: page.bytes, as: UTF8.self)) }
      for item in page["targets"]?.elements ?? [] {
        guard let id = item["id"]?.string, let uptime = HistoryFormatter.uptime(item) else { continue }
        found[id] = uptime
      }
      cursor = page["next"]?.string
      if cursor == nil { break }
    }
    return found
  }
}
