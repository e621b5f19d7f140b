internal import ArgumentParser
internal import Credentials
internal import HostProcess
internal import NetworkReachability
internal import ReachabilityModel
internal import StatusAPI

/// `reachd token create`.
struct TokenCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "token", abstract: "Create tokens for clients.", subcommands: [Create.self])

  struct Create: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Create a token: it is printed once, and the service stores only its digest.",
      discussion: """
        Prints the token to standard output, or writes it to the file of --output. Prints to standard error the line for
        the configuration, under `tokens:` or in the file that `tokensFile` names. Clients send the token as
        `Authorization: Bearer TOKEN`; reachd's commands read it from REACHD_TOKEN or --token-file. To replace a token,
        add a second one with the same id, change the clients, and remove the first one.

        EXAMPLES
          reachd token create --scope read
          reachd token create --scope read --scope check --id grafana --expires 90d --output grafana.token
        """)

    @Option(help: "A scope: read, check, targets:write or admin; may be given more than once.")
    var scope: [String]

    @Option(
      help: "Its name in the configuration and in logs: lower-case letters, digits, hyphens. Default: a random one.")
    var id: String?

    @Option(help: "Its expiry: a date, a time (RFC 3339), or days from now such as 90d. Default: never.")
    var expires: String?

    @Option(help: "A new file for the token, mode 0600, instead of standard output.")
    var output: String?

    func validate() throws {
      if output == "" { throw ValidationError("--output is empty; name a file that does not exist.") }
      for scope in scope where Scope(rawValue: scope) == nil {
        let known = Scope.allCases.map(\.rawValue).joined(separator: ", ")
        throw ValidationError("There is no scope \(scope); use \(known).")
      }
      if scope.isEmpty { throw ValidationError("Give at least one --scope, such as read.") }
      if let id, !BearerToken.isID(id) {
        throw ValidationError("--id has lower-case letters, digits and hyphens, \(BearerToken.longestID) at the most.")
      }
      _ = try end()
    }

    mutating func run() async throws {
      guard let token = BearerToken.make(id: id), let digest = token.digest else {
        Terminal.writeError("reachd: the system provides no random numbers")
        throw ExitStatus.software
      }
      let scopes = scope.map { "\"\($0)\"" }.joined(separator: ", ")
      let end = try end().map { ", expires: \"\($0)\"" } ?? ""
      let line = "  - { id: \"\(token.id)\", sha256: \"\(digest.hexadecimal)\", scopes: [\(scopes)]\(end) }"
      if let output { try save(token.text, to: output) }
      // A token whose digest was not printed is useless, so it is removed.
      guard Terminal.writeError(line) else {
        if let output { PrivateFile.remove(output) }
        throw ExitStatus.output
      }
      if output == nil { Terminal.line(token.text) }
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
      guard let end = Timestamp(expires) else {
        throw ValidationError("--expires is a date (2027-01-01), a time (2027-01-01T00:00:00Z) or days (90d).")
      }
      guard end > .now else { throw ValidationError("--expires is in the past.") }
      return end
    }
  }
}
