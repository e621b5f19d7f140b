internal import ArgumentParser
internal import HostProcess
internal import JSONFormat
internal import ReachabilityModel
internal import StatusClient
internal import TerminalUI
internal import TextSyntax

/// `reachd history`: the transitions of the past, from a service with a data directory.
struct HistoryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "history",
    abstract: "Print the transitions of the past, oldest first.",
    usage: "reachd history [OPTIONS]",
    discussion: """
      One line per transition: its time, subject, states, reason and causes. Starts
      and stops of the service are listed, too. On a terminal the lines are a table,
      with times in whole seconds. Exits with 0 when the history could be read, also
      if it is empty.

      EXAMPLES
        reachd history --since 1h
        reachd history --since 7d --subject target:db --states down
        reachd history --since 2026-01-01T00:00:00Z --json | jq .subject
      """)

  @Option(help: "How far back, such as 1h or 30d, or a time in RFC 3339.")
  var since = "1h"

  @Option(help: "Only before this time, in the same forms.")
  var until: String?

  @Option(help: "Only this subject: machine, service, interface:NAME or target:ID; may be repeated.")
  var subject: [String] = []

  @Option(help: "Only these types: status, path, interface, target, service.")
  var types: String?

  @Option(help: "Only transitions to these states, such as down,unreachable.")
  var states: String?

  @Flag(help: "Print one JSON object per line.")
  var json = false

  @OptionGroup var color: ColorOption
  @OptionGroup var client: ClientOptions
  @OptionGroup var source: SourceOptions

  /// The largest number of entries per page that a service allows.
  private static let page = 1000
  /// The limit of pages: a hundred million entries.
  private static let pages = 100_000

  mutating func run() throws {
    let selection =
      [
        ("order", "asc"), ("limit", String(Self.page)), ("since", TimeArgument.query(since)),
        ("until", until.map(TimeArgument.query)), ("types", types), ("states", states),
      ] + subject.map { ("subject", $0) }
    let fixed = selection.compactMap { name, value in value.map { "\(name)=\(PercentEncoding.encoded($0))" } }
    var cursor: String?
    let isTable = ProcessTerminal.isTerminal(1) && !json
    var table = isTable ? HistoryTable(isColored: color.isEnabled) : nil
    for _ in 0..<Self.pages {
      let query = fixed + (cursor.map { ["cursor=\(PercentEncoding.encoded($0))"] } ?? [])
      let page = try client.document("/history?" + query.joined(separator: "&"), member: "history", source)
      let items = page["history"]?.elements ?? []
      let lines = items.compactMap(HistoryFormatter.line)
      guard lines.count == items.count else { throw ClientOptions.undetermined("the response is not a history") }
      let printed = json ? items.map { String(decoding: $0.bytes, as: UTF8.self) } : table?.lines(items) ?? lines
      for line in printed { Terminal.line(line) }
      cursor = page["next"]?.string
      if cursor == nil { break }
    }
    // Standard output has entries only.
    if let table, table.isEmpty { Terminal.writeNote("no transitions\(until == nil ? " since \(since)" : "")") }
  }
}

/// The history as a table: its columns are as wide as those of the pages so far need.
private struct HistoryTable {
  /// The column with the new state.
  private static let stateColumn = 3

  private var table = TextTable(HistoryFormatter.titles, Glyphs(ProcessEnvironment.all))
  private let isColored: Bool
  private var hasTitles = false
  /// Whether no entry was printed.
  var isEmpty: Bool { !hasTitles }

  init(isColored: Bool) { self.isColored = isColored }

  /// Returns the lines of a page, after the titles if it is the first one with entries.
  mutating func lines(_ items: [JSON]) -> [String] {
    let rows = items.compactMap(HistoryFormatter.cells)
    guard !rows.isEmpty else { return [] }
    table.fit(rows)
    defer { hasTitles = true }
    let titles = hasTitles ? [] : [table.line(HistoryFormatter.titles)]
    return titles + rows.map { table.line($0, coloring: isColored ? Self.stateColumn : nil) }
  }
}

enum TimeArgument {
  /// Returns the value of the query: `1h` is a time before now, `-1h` there.
  static func query(_ text: String) -> String {
    guard let first = text.unicodeScalars.first, ("0"..."9").contains(first), !text.contains("-") else { return text }
    return "-" + text
  }
}
