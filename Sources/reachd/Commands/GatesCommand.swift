internal import ArgumentParser
internal import JSONFormat
internal import StatusClient

/// `reachd gates`: the gates of a service.
struct GatesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "gates",
    abstract: "List gates: exit 0 all are open, 1 at least one is closed, 2 undetermined.",
    usage: "reachd gates [OPTIONS]",
    discussion: """
      One line per gate: its state and id, why it is closed, the members that are not
      up, and since when. With --watch, a line for every change follows.

      EXAMPLES
        reachd gates
        reachd gates --json | jq '.gates[] | select(.state == "closed").missing'
        reachd gates --watch
      """)

  @Flag(help: "Print the document of GET /gates; with --watch, then each event as one line.")
  var json = false

  @Flag(help: "Continue with a line for every change, until the command is ended.")
  var watch = false

  @OptionGroup var color: ColorOption
  @OptionGroup var client: ClientOptions
  @OptionGroup var source: SourceOptions

  mutating func run() async throws {
    let document = try client.document("/gates", member: "gates", source)
    var isClosed = false
    for gate in document["gates"]?.elements ?? [] {
      guard let line = GateFormatter.line(gate) else {
        throw ClientOptions.undetermined("the response is not a list of gates")
      }
      isClosed = isClosed || gate["state"]?.string != "open"
      if !json { Terminal.line(color.colored(line)) }
    }
    if json { Terminal.json(String(decoding: document.bytes, as: UTF8.self)) }
    if watch {
      throw await RemoteWatch(
        client: client, source: source, hosts: [], isJSON: json, color: color, hook: nil, watchesGates: true
      ).run()
    }
    if isClosed { throw ExitStatus.negative }
  }
}
