import Glibc
import TestSupport
import Testing

/// Files with secrets that other users of the machine can read or write.
@Suite struct FileModeTests {
  /// A mode of each file, and what the warnings say.
  struct Case: Sendable, CustomTestStringConvertible {
    let secret: mode_t
    let tokens: mode_t
    let configuration: mode_t
    let warnings: [String]
    var testDescription: String { [secret, tokens, configuration].map { String($0, radix: 8) }.joined(separator: " ") }
  }

  static let cases = [
    Case(secret: 0o600, tokens: 0o600, configuration: 0o644, warnings: []),
    Case(secret: 0o660, tokens: 0o644, configuration: 0o664, warnings: []),
    Case(secret: 0o644, tokens: 0o644, configuration: 0o644, warnings: ["read ops.secret: chmod o-r"]),
    Case(secret: 0o602, tokens: 0o600, configuration: 0o600, warnings: ["write ops.secret: chmod o-w"]),
    Case(
      secret: 0o606, tokens: 0o666, configuration: 0o602,
      warnings: [
        "read and write ops.secret: chmod o-rw", "write reachd.yaml: chmod o-w", "write tokens.yaml: chmod o-w",
      ]),
  ]

  @Test(arguments: cases) func filesThatOthersCanReadOrWriteAreReported(_ example: Case) throws {
    let directory = try TemporaryDirectory()
    let secret = try directory.write("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n", as: "ops.secret")
    let tokens = try directory.write("[]\n", as: "tokens.yaml")
    let file = try directory.write(
      """
      listen: ["127.0.0.1:0"]
      tokensFile: \(tokens)
      data: \(directory.path)/data
      webhooks: [{ id: ops, url: "https://ops.example/", secretFile: \(secret) }]

      """, as: "reachd.yaml")
    for (path, mode) in [(secret, example.secret), (tokens, example.tokens), (file, example.configuration)] {
      #expect(unsafe chmod(path, mode) == 0)
    }
    func warnings(_ text: String) -> [String] {
      let beginning = "every user of this machine can "
      return text.split(separator: "\n").compactMap { (line: Substring) -> String? in
        guard let range = line.firstRange(of: beginning) else { return nil }
        return String(line[range.upperBound...]).replacing("\(directory.path)/", with: "").replacing("\"", with: "")
      }
    }
    let (end, _, errors) = try Program.run(["config", "check", "--config", file])
    #expect(end == .exited(0), "\(errors)")
    #expect(warnings(errors).sorted() == example.warnings, "\(errors)")
    let service = try Program.start(["serve", "--config", file])
    #expect(eventually { service.errors.contains("listening") || service.poll() != nil })
    service.kill(SIGTERM)
    try service.wait()
    #expect(warnings(service.errors).sorted() == example.warnings, "\(service.errors)")
  }
}
