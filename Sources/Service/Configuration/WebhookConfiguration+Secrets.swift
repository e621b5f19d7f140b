internal import Credentials
internal import HostProcess
internal import Webhooks

extension WebhookConfiguration {
  /// The longest file of secrets, in bytes: two lines and comments.
  private static let secretFileBytes = 4_096
  /// An old and a new secret.
  private static let secretLimit = 2

  /// Reads the secrets of the webhooks from their files.
  ///
  /// - Parameter blocking: false to accept regular files only.
  /// - Returns: the webhooks with their secrets, and the problems, which omit the content of the files.
  func load(blocking: Bool) -> (webhooks: [WebhookDefinition], errors: [ConfigurationError]) {
    var webhooks: [WebhookDefinition] = []
    var errors: [ConfigurationError] = []
    for draft in drafts {
      switch Self.secrets(draft.secretFile, blocking: blocking) {
      case .success(let secrets):
        var definition = draft.definition
        definition.secrets = secrets
        webhooks.append(definition)
      case .failure(let problem):
        errors.append(
          ConfigurationError(
            location: draft.location, path: draft.path, problem: problem.text,
            hint: "expected a line of whsec_ and the base64 form of 24 to 64 random bytes, or two during a rotation"))
      }
    }
    return (webhooks, errors)
  }

  /// Why a file has no secrets.
  private struct Problem: Error { var text: String }

  private static func secrets(_ path: String, blocking: Bool) -> Result<[SigningSecret], Problem> {
    let bytes: [UInt8]
    do throws(FileReadError) {
      bytes = try FileReader.bytes(of: path, limit: secretFileBytes, blocking: blocking)
    } catch {
      return .failure(Problem(text: "\(error)"))
    }
    let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
      .map { $0.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
      .filter { !$0.isEmpty && !$0.hasPrefix("#") }
    guard (1...secretLimit).contains(lines.count) else {
      return .failure(Problem(text: "\(path) has \(lines.count) secrets"))
    }
    let secrets = lines.compactMap { SigningSecret($0) }
    guard secrets.count == lines.count else { return .failure(Problem(text: "\(path) has a line that is no secret")) }
    return .success(secrets)
  }
}
