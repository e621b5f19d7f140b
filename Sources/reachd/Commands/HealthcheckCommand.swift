internal import ArgumentParser

/// `reachd healthcheck`: the command for a container's HEALTHCHECK and for exec probes.
struct HealthcheckCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "healthcheck",
    abstract: "Exit 0 when the service is ready, 1 when it is not.",
    discussion: """
      Sends a request to /readyz. The exit code is 0 or 1, because Docker reserves the other codes; only an
      invalid command line exits with 64. Without --url and REACHD_URL it uses the address in this machine's
      configuration, accepts any certificate name, and sends no token.

      EXAMPLES
        reachd healthcheck
        reachd healthcheck --url http://127.0.0.1:9090
      """)

  @OptionGroup var client: ClientOptions
  @OptionGroup var source: SourceOptions

  mutating func run() async throws {
    do {
      let answer = try client.get("/readyz", accept: "text/plain", source, isAnonymous: true)
      if answer.status == 200 { return }
      let body = String(decoding: answer.body, as: UTF8.self)
      let text = body.hasSuffix("\n") ? String(body.dropLast()) : body
      Terminal.writeError("reachd: not ready (\(answer.status)): \(Terminal.displayText(text))")
    } catch let error where !(error is ExitCode) {
      Terminal.writeError("reachd: \(error)")
    } catch {
      // An invalid configuration, which was reported already.
    }
    throw ExitStatus.negative
  }
}
