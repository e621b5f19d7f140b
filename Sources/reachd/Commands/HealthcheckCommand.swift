internal import ArgumentParser
internal import JSONFormat
internal import ReachabilityModel
internal import StatusClient

/// `reachd healthcheck`: the command for a container's HEALTHCHECK and for exec probes.
struct HealthcheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "healthcheck",
    abstract: "Exit 0 when the service is ready, 1 when it is not.",
    usage: "reachd healthcheck [OPTIONS]",
    discussion: """
      Sends a request to /readyz, or with --gate to that gate, which must be open. The
      exit code is 0 or 1, because Docker defines no
      others; only an invalid command line exits with 64. Without --url and
      REACHD_URL it uses the address in this machine's configuration, accepts any
      certificate, and sends no token.

      EXAMPLES
        reachd healthcheck
        reachd healthcheck --url http://127.0.0.1:9090
        reachd healthcheck --json
        reachd healthcheck --gate app
      """)

  @Flag(help: "Print the result of each check as JSON (application/health+json).")
  var json = false

  @Option(help: "The id of a gate that must be open, instead of the service's readiness.")
  var gate: String?

  @OptionGroup var client: ClientOptions
  @OptionGroup var source: SourceOptions

  func validate() throws {
    if let gate, !TargetSpec.isID(gate) {
      throw ValidationError("--gate must be the id of a gate, such as app; got \(gate.debugDescription)")
    }
  }

  mutating func run() throws {
    do {
      if try gate.map(isOpen) ?? isReady() { return }
    } catch let error where !(error is ExitCode) {
      report("\(error)")
    } catch {
      // The configuration is invalid; the errors have been printed already.
      if json { report("the configuration is invalid") }
    }
    throw ExitStatus.negative
  }

  /// Whether the service is ready; reports why it is not.
  private func isReady() throws -> Bool {
    let media = json ? "application/health+json" : "text/plain"
    let answer = try client.send("/readyz", accept: media, source, isAnonymous: true)
    let body = String(decoding: answer.body, as: UTF8.self)
    let text = body.hasSuffix("\n") ? String(body.dropLast()) : body
    // Another server at this address is not ready, whatever it responds.
    let isOwn =
      json ? (try? JSON.parse(answer.body))?["status"]?.string != nil : answer.status != 200 || text == "ok"
    if json, isOwn { Terminal.json(text) }
    if answer.status == 200, isOwn { return true }
    if !json || !isOwn { report("not ready (\(answer.status)): \(text)") }
    return false
  }

  /// Whether a gate is open; reports why it is not.
  private func isOpen(_ gate: String) throws -> Bool {
    let answer = try client.send("/gates/\(gate)?require=open", accept: "application/json", source, isAnonymous: true)
    let document = try? JSON.parse(answer.body)
    if answer.status == 200, document?["state"]?.string == "open" {
      if json { Terminal.line("{\"status\":\"pass\"}") }
      return true
    }
    report("not open (\(answer.status)): \(document.flatMap(GateFormatter.line) ?? answer.problem)")
    return false
  }

  /// Reports why the service returned no result; with `--json`, in the format of its results.
  private func report(_ problem: String) {
    guard json else {
      Terminal.writeError("reachd: \(HTTPClient.Response.displayText(problem))")
      return
    }
    let document = JSON.members(["status": "fail", "output": .string(problem)])
    Terminal.line(String(decoding: document.bytes, as: UTF8.self))
  }
}
