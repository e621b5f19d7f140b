internal import ArgumentParser
internal import ReachabilityModel
internal import StatusClient
internal import TextSyntax

/// `reachd targets rm`.
struct TargetsRemoveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rm",
    abstract: "Remove targets: exit 0 all are removed, 1 refused, 2 no response.",
    usage: "reachd targets rm ID ... [OPTIONS]",
    discussion: """
      Targets of the configuration file cannot be removed. Needs the scope
      targets:write where the service requires a token.

      EXAMPLE
        reachd targets rm db web
      """)

  @Argument(help: "The ids.")
  var id: [String]

  @Flag(help: "Also remove them from the dependencies of other targets, which otherwise are an error.")
  var force = false

  @OptionGroup var client: ClientOptions
  @OptionGroup var source: SourceOptions

  func validate() throws {
    for id in id {
      guard TargetSpec.isID(id) else {
        throw ValidationError("\(id.debugDescription) is not the id of a target; reachd targets lists them")
      }
    }
  }

  mutating func run() throws {
    var isRefused = false
    for id in id {
      let answer = try client.sendOrExit(
        "DELETE", "/targets/\(PercentEncoding.encoded(id))\(force ? "?force=true" : "")", source)
      switch answer.status {
      case 200..<300: continue
      case 404:
        Terminal.writeError(ClientOptions.unknownTarget(id))
        isRefused = true
      case 400..<500:
        Terminal.writeError("reachd: \(answer.problem)")
        isRefused = true
      default: throw ClientOptions.unexpected(answer)
      }
    }
    if isRefused { throw ExitStatus.negative }
  }
}
