internal import ReachabilityModel

/// A problem in a configuration: the place, the problem and the remedy.
package struct ConfigurationError: Error, Equatable, CustomStringConvertible {
  /// `reachd.yaml:3:8`, `REACHD_LISTEN`, `--listen`.
  package var location: String
  /// The key path; empty for the whole file.
  package var path = ""
  package var problem: String
  /// The remedy; empty when the problem implies it.
  package var hint = ""

  package init(location: String, path: String = "", problem: String, hint: String = "") {
    self.location = location
    self.path = path
    self.problem = problem
    self.hint = hint
  }

  /// The largest part of a value or key to show, in bytes: enough to identify it.
  private static let displayedByteLimit = 100

  /// Returns a value in quotes, truncated when it is long.
  static func quoted(_ text: String) -> String {
    text.utf8.count <= displayedByteLimit
      ? text.debugDescription : "\(text.prefix(displayedByteLimit).debugDescription)…"
  }

  /// Returns any key of a file as a part of a path.
  static func truncated(_ key: String) -> String {
    key.utf8.count <= displayedByteLimit ? key : "\(key.prefix(displayedByteLimit))…"
  }

  /// The message on one line, with control characters of keys and paths escaped.
  package var description: String {
    // A flag or a variable already names its setting.
    let isNamed = location.hasPrefix("--") || location.hasPrefix("REACHD_")
    let subject = path.isEmpty || isNamed ? "" : "\(path): "
    return "\(location): \(subject)\(problem)\(hint.isEmpty ? "" : "; \(hint)")".withoutControls
  }
}

/// All problems of a configuration: one run of `config check` reports everything.
package struct ConfigurationErrors: Error, CustomStringConvertible {
  /// The problems, in the order of the sources.
  package var errors: [ConfigurationError]

  /// Creates a list of problems.
  package init(errors: [ConfigurationError]) { self.errors = errors }

  /// The largest number of problems to report; a file with more is probably not a configuration.
  private static let lineLimit = 100

  /// The first problems, each with its place, and the number of the others.
  package var lines: [String] {
    let more = errors.count - Self.lineLimit
    return errors.prefix(Self.lineLimit).map(\.description) + (more > 0 ? ["and \(more) more"] : [])
  }

  package var description: String { lines.joined(separator: "\n") }
}
