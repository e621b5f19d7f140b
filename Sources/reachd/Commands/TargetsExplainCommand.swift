internal import ArgumentParser
internal import ReachabilityModel
internal import StatusClient
internal import TextSyntax

/// `reachd targets explain`.
struct TargetsExplainCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Explain the state of a target step by step: exit 0 done, 1 refused, 2 no response.",
    usage: "reachd targets explain ID [OPTIONS]",
    discussion: """
      The evidence is that of the last check: nothing is sent to the target.
      reachd check TARGET --explain makes a new check from this machine.

      EXAMPLES
        reachd targets explain db
      """)

  @Argument(help: "The id of the target.")
  var id: String

  @Flag(help: "Print the document of GET /targets/{id}/explain.")
  var json = false

  @OptionGroup var client: ClientOptions
  @OptionGroup var source: SourceOptions

  func validate() throws {
    guard TargetSpec.isID(id) else {
      throw ValidationError("\(id.debugDescription) is not the id of a target; reachd targets lists them")
    }
  }

  mutating func run() throws {
    let accept = json ? "application/json" : "text/plain"
    let answer = try client.sendOrExit("GET", "/targets/\(PercentEncoding.encoded(id))/explain", accept: accept, source)
    switch answer.status {
    case 200:
      let lines = String(decoding: answer.body, as: UTF8.self).split(separator: "\n")
      for line in lines { Terminal.line(String(line).withoutControls) }
    case 404:
      Terminal.writeError(ClientOptions.unknownTarget(id))
      throw ExitStatus.negative
    case 400..<500:
      Terminal.writeError("reachd: \(answer.problem)")
      throw ExitStatus.negative
    default: throw ClientOptions.unexpected(answer)
    }
  }
}
