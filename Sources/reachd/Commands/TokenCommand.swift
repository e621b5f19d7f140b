internal import ArgumentParser
internal import Credentials
internal import HTTPRouting
internal import HostProcess
internal import NetworkReachability
internal import StatusAPI
internal import TextSyntax

/// `reachd token create`.
struct TokenCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "token", abstract: "Create tokens for clients.", subcommands: [Create.self])

  struct Create: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "create",
      abstract: "Create a token: it is printed once, and the service stores only its digest.",
      usage: "reachd token create --scope SCOPE [OPTIONS]",
      discussion: """
        Prints the token to standard output, and to standard error the line for the
        configuration, under `tokens:` or in the file that `tokensFile` names. With
        --output it writes the token to a file, and prints the line to standard output.
        Clients send the token as `Authorization: Bearer TOKEN`; reachd's commands read
        it from REACHD_TOKEN or --token-file. To replace a token, add a second one with
        the same id, change the clients, and remove the first one.

        EXAMPLES
          reachd token create --scope read
          reachd token create --scope check --id grafana --output token >>tokens.yaml
        """)

    @Option(
      help: "A scope: read, check, targets:write or admin; may be given more than once.",
      completion: .list(AccessScope.allCases.map(\.rawValue)))
    var scope: [String]

    @Option(
      help: "Its name in the configuration and in logs: lower-case letters, digits, hyphens. Default: a random one.")
    var id: String?

    @Option(help: "Its expiry: a date, a time (RFC 3339), or a duration such as 36h or 90d. Default: never.")
    var expires: String?

    @Option(help: "A new file for the token, mode 0600, instead of standard output.", completion: .file())
    var output: String?

    func validate() throws {
      if output == "" { throw ValidationError("--output is empty; expected the path of a new file") }
      for scope in scope where AccessScope(rawValue: scope) == nil {
        let known = AccessScope.allCases.map(\.rawValue)
        let suggestion = EditDistance.suggestion(for: scope, among: known).map { " (\($0))" } ?? ""
        throw ValidationError(
          "unknown scope \(scope.debugDescription)\(suggestion); expected one of \(known.joined(separator: ", "))")
      }
      if scope.isEmpty { throw ValidationError("at least one --scope is required, such as read") }
      if let id, !BearerToken.isID(id) {
        throw ValidationError(
          "--id must be 1 to \(BearerToken.longestID) lower-case letters, digits and hyphens, got \(id.debugDescription)"
        )
      }
      _ = try end()
    }

    mutating func run() throws {
      guard let token = BearerToken.make(id: id), let digest = token.digest else {
        Terminal.writeError("reachd: the system provides no random numbers")
        throw ExitStatus.software
      }
      let scopes = scope.map { "\"\($0)\"" }.joined(separator: ", ")
      let end = try end().map { ", expires: \"\($0)\"" } ?? ""
      let line = "  - { id: \"\(token.id)\", sha256: \"\(digest.hexadecimal)\", scopes: [\(scopes)]\(end) }"
      if let output { try save(token.text, to: output) }
      // A token whose digest was not printed is useless, so it is removed.
      if let output {
        guard Terminal.hasWritten(line) else {
          PrivateFile.remove(output)
          throw ExitStatus.output
        }
      } else {
        guard Terminal.writeError(line) else { throw ExitStatus.output }
        Terminal.line(token.text)
      }
    }

    private func save(_ text: String, to path: String) throws {
      do throws(PrivateFile.Failure) {
        try PrivateFile.create(path, text + "\n")
      } catch {
        Terminal.writeError("reachd: \(error)")
        throw ExitStatus.creation
      }
    }

    private func end() throws -> Timestamp? {
      guard let expires else { return nil }
      if expires.hasSuffix("d"), let days = Int64(expires.dropLast()), (1...36_500).contains(days) {
        return Timestamp(microseconds: Timestamp.now.microseconds + days * 86_400_000_000)
      }
      if let duration = DurationFormat.parse(expires), duration > .zero {
        return Timestamp(microseconds: Timestamp.now.microseconds + Int64(duration / .microseconds(1)))
      }
      guard let end = Timestamp(expires) else {
        throw ValidationError(
          "--expires must be a date, a time such as 2027-01-01T00:00:00Z, or a duration, such as 36h or 90d, "
            + "got \(expires.debugDescription)")
      }
      guard end > .now else { throw ValidationError("--expires must be in the future, got \(expires)") }
      return end
    }
  }
}
