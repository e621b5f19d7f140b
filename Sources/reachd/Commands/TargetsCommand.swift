internal import ArgumentParser
internal import JSONFormat
internal import ReachabilityModel
internal import StatusAPI

/// `reachd targets`: the registered targets of a service.
struct TargetsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "targets",
    abstract: "List a service's registered targets: exit 0 all are up, 1 at least one is not, 2 undetermined.",
    discussion: """
      One line per target: its state, id and target, why it is not up, and since when. Paused targets are listed, and do
      not affect the exit code.

      EXAMPLES
        reachd targets
        reachd targets --state down,unreachable && echo none is down
        reachd targets --label env=prod,team --json | jq '.targets[].id'
      """)

  @Option(help: "Only targets in these states: up, down, unreachable, unknown, paused.")
  var state: String?

  @Option(help: "Only targets with these labels, such as env=prod,team.")
  var label: String?

  @Flag(help: "Print the documents of GET /targets, one page per line.")
  var json = false

  @OptionGroup var client: ClientOptions
  @OptionGroup var source: SourceOptions

  /// The largest number of targets per page that a service allows.
  private static let page = 1000
  /// The limit of pages, which allows more targets than a service can have.
  private static let pages = 10_000

  mutating func run() async throws {
    var states: Set<TargetState> = []
    var cursor: String?
    for _ in 0..<Self.pages {
      let page = try page(after: cursor)
      for item in page["targets"]?.elements ?? [] {
        guard let (state, line) = TargetFormatter.line(item) else {
          throw undetermined("the response is not a list of targets")
        }
        states.insert(state)
        if !json { Terminal.line(line) }
      }
      cursor = page["next"]?.string
      if cursor == nil { break }
    }
    if !states.isDisjoint(with: [.down, .unreachable]) { throw ExitStatus.negative }
    if states.contains(.unknown) { throw ExitStatus.undetermined }
  }

  /// Requests one page, and prints it with `--json`.
  private func page(after cursor: String?) throws -> JSON {
    let query = [("limit", String(Self.page)), ("state", state), ("label", label), ("cursor", cursor)]
      .compactMap { name, value in value.map { "\(name)=\(PercentEncoding.encoded($0))" } }
    let answer: (status: Int, contentType: String?, body: [UInt8])
    do {
      answer = try client.get("/targets?" + query.joined(separator: "&"), accept: "application/json", source)
    } catch let error where !(error is ExitCode) {
      throw undetermined("\(error)")
    }
    let text = String(decoding: answer.body, as: UTF8.self)
    let document = try? JSON.parse(answer.body)
    guard answer.status == 200, let document, document["targets"]?.elements != nil else {
      throw undetermined(
        "the service responded with \(answer.status): \(Terminal.displayText(document?["detail"]?.string ?? text))")
    }
    if json { Terminal.line(text.hasSuffix("\n") ? String(text.dropLast()) : text) }
    return document
  }

  private func undetermined(_ problem: String) -> ExitCode {
    Terminal.writeError("reachd: \(problem)")
    return ExitStatus.undetermined
  }
}
