/// What is wrong with a configuration: where, what, and what to do.
struct ConfigurationError: Error, Equatable, CustomStringConvertible {
  /// `reachd.yaml:3:8`, `REACHD_LISTEN`, `--listen`.
  var place: String
  /// The key path, empty for the whole.
  var path = ""
  /// What is wrong.
  var problem: String
  /// What to do about it; empty when the problem says it.
  var hint = ""

  var description: String {
    let subject = path.isEmpty ? "" : "\(path): "
    return "\(place): \(subject)\(problem)\(hint.isEmpty ? "" : "; \(hint)")"
  }
}

/// All that is wrong: one run of `config check` shows everything.
struct ConfigurationErrors: Error, CustomStringConvertible {
  var errors: [ConfigurationError]

  var description: String { errors.map(\.description).joined(separator: "\n") }
}
