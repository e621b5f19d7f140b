internal import ArgumentParser
internal import JSONFormat
internal import Logging
internal import NetworkReachability
internal import Service
internal import StatusClient
internal import TerminalUI

/// `reachd status`: this machine's verdict, from the service or directly from the kernel.
struct StatusCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Print the reachability of this machine: exit 0 reachable, 1 not reachable, 2 undetermined.",
    usage: "reachd status [OPTIONS]",
    discussion: """
      EXAMPLES
        reachd status
        reachd status --json | jq .ipv4
        reachd status --url http://10.0.0.5:8080
        reachd status --direct && echo online

      A replica of a fleet has a second line, with the numbers of agents and verdicts.
      """)

  @Flag(help: "Query the kernel of this machine, without a service.")
  var direct = false

  @Flag(help: "Print the whole document instead of a line.")
  var json = false

  @OptionGroup var color: ColorOption
  @OptionGroup var client: ClientOptions
  @OptionGroup var source: SourceOptions

  func validate() throws {
    if direct, client.url != nil { throw ValidationError("--direct uses no service; omit --url") }
  }

  mutating func run() throws {
    throw direct ? try askKernel() : try askService()
  }

  private func askKernel() throws -> ExitCode {
    let monitor = try source.sources().loadOrExit().makeStartedMonitor()
    let snapshot = monitor.snapshot
    monitor.stop()
    Terminal.line(json ? StatusFormatter.json(snapshot) : color.colored(StatusFormatter.line(snapshot)))
    return ExitStatus.code(reachable: snapshot.status.isReachable, known: snapshot.status != .unknown)
  }

  /// The verdict in the service's response; nil when the response is not from reachd.
  private static func status(in text: String, isDocument: Bool) -> String? {
    let status =
      isDocument
      ? (try? JSON.parse(Array(text.utf8)))?["status"]?.string
      : text.prefix { $0 != " " && $0 != ":" && $0 != "\n" }.description
    return ["reachable", "notReachable", "unknown"].first { $0 == status }
  }

  /// The line about the fleet, if the service is a replica; it does not affect the exit code.
  private func fleet() -> String? {
    guard let answer = try? client.send("/fleet", accept: "application/json", source), answer.status == 200,
      let document = try? JSON.parse(answer.body)
    else { return nil }
    return FleetFormatter.line(ofFleet: document)
  }

  private func askService() throws -> ExitCode {
    // The response code of one request is the status in every representation: 200 reachable, 503 not.
    let media = json ? "application/json" : "text/plain"
    do {
      let answer = try client.send("/status?require=reachable", accept: media, source)
      let body = String(decoding: answer.body, as: UTF8.self)
      let text = body.hasSuffix("\n") ? String(body.dropLast()) : body
      let status = answer.contentType?.hasPrefix(media) == true ? Self.status(in: text, isDocument: json) : nil
      // A proxy may have sent the response instead of the service; it is not a verdict.
      guard let status, answer.status == (status == "reachable" ? 200 : 503) else {
        return ClientOptions.unexpected(answer)
      }
      if json { Terminal.json(text) } else { Terminal.line(color.colored(text)) }
      if !json, let line = fleet() { Terminal.line(line) }
      return ExitStatus.code(reachable: status == "reachable", known: status != "unknown")
    } catch let error as ServiceURL.Invalid {
      Terminal.writeError("reachd: \(error)")
      return ExitStatus.undetermined
    } catch let error where !(error is ExitCode) {
      let code = ClientOptions.noResponse(error)
      Terminal.writeError("reachd: `reachd status --direct` queries the kernel without the service")
      return code
    }
  }
}
