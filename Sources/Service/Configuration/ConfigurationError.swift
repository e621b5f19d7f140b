internal import ReachabilityModel

/// What is wrong with a configuration: where, what, and what to do.
struct ConfigurationError: Error, Equatable, CustomStringConvertible {
  /// `reachd.yaml:3:8`, `REACHD_LISTEN`, `--listen`.
  var location: String
  /// The key path, empty for the whole.
  var path = ""
  /// What is wrong.
  var problem: String
  /// What to do about it; empty when the problem says it.
  var hint = ""

  /// Bytes of a value or a key that are shown: enough to know it again.
  private static let displayedByteLimit = 100

  /// A value in quotes, cut short when it is long.
  static func quoted(_ text: String) -> String {
    text.utf8.count <= displayedByteLimit
      ? text.debugDescription : "\(text.prefix(displayedByteLimit).debugDescription)…"
  }

  /// A key of a file, which may be anything, as a part of a path.
  static func truncated(_ key: String) -> String {
    key.utf8.count <= displayedByteLimit ? key : "\(key.prefix(displayedByteLimit))…"
  }

  /// One line, whatever keys and paths have in them.
  var description: String {
    let subject = path.isEmpty ? "" : "\(path): "
    return "\(location): \(subject)\(problem)\(hint.isEmpty ? "" : "; \(hint)")".withoutControls
  }
}

/// All that is wrong: one run of `config check` shows everything.
package struct ConfigurationErrors: Error, CustomStringConvertible {
  var errors: [ConfigurationError]

  /// Complaints that are told; whoever has more has given the wrong file.
  private static let lineLimit = 100

  /// The first ones, each with its place, and how many more there are.
  package var lines: [String] {
    let more = errors.count - Self.lineLimit
    return errors.prefix(Self.lineLimit).map(\.description) + (more > 0 ? ["and \(more) more"] : [])
  }

  package var description: String { lines.joined(separator: "\n") }
}
