internal import ArgumentParser
internal import JSONFormat
internal import ReachabilityModel
internal import StatusClient

/// `reachd targets export`.
struct TargetsExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Print the targets as the section `targets` of a configuration file.",
    usage: "reachd targets export [OPTIONS]",
    discussion: """
      Without the scope targets:write the service hides the values in the queries of
      URLs; the command then fails with exit code 1, because the file would differ.

      EXAMPLES
        reachd targets export > targets.yaml
        reachd config check --config targets.yaml
      """)

  @Option(help: "Only targets with these labels, such as env=prod,team.")
  var label: String?

  @OptionGroup var client: ClientOptions
  @OptionGroup var source: SourceOptions

  mutating func run() throws {
    // Printed after the last page, so that an error in a later page leaves no incomplete file.
    var lines: [String] = []
    var hidden: [String] = []
    try client.forEachTargetPage([("label", label)], source) { page, _ in
      for item in page["targets"]?.elements ?? [] {
        guard let line = TargetFormatter.configuration(item), let id = item["id"]?.string else {
          throw ClientOptions.undetermined("the response is not a list of targets")
        }
        lines.append("  - \(line)")
        if item["target"]?.string?.contains("=\(Redaction.mark)") == true { hidden.append(id) }
      }
    }
    guard hidden.isEmpty else {
      Terminal.writeError(
        "reachd: the URLs of \(hidden.joined(separator: ", ")) are incomplete; use a token with the scope targets:write"
      )
      throw ExitStatus.negative
    }
    Terminal.line((lines.isEmpty ? ["targets: []"] : ["targets:"] + lines).joined(separator: "\n"))
  }
}
