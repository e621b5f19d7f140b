internal import TextSyntax

/// Finds unknown environment variables with the prefix `REACHD_`, because a misspelled setting would have no effect.
enum UnknownVariables {
  /// The known variables that are not settings: the path of the file, and the options of client commands.
  private static let known: Set<String> = [
    "REACHD_CONFIG", "REACHD_URL", "REACHD_TOKEN", "REACHD_TOKEN_FILE", "REACHD_CACERT",
    ConfigurationSources.defaultListenVariable, DataDirectoryChoice.defaultVariable,
  ]

  /// Returns a warning for each unknown variable, ordered by name.
  ///
  /// They are warnings because other programs may set such names. The variables that Kubernetes sets for a Service
  /// named `reachd` (`REACHD_PORT…`, `REACHD_SERVICE_…`) are left out.
  static func warnings(_ environment: [String: String]) -> [String] {
    let variables = Setting.all.map(\.variable)
    return environment.keys.sorted().compactMap { name in
      guard name.hasPrefix("REACHD_"), !known.contains(name), !variables.contains(name),
        !name.hasPrefix("REACHD_PORT"), !name.hasPrefix("REACHD_SERVICE_")
      else { return nil }
      let suggestion = EditDistance.suggestion(for: name, among: variables, within: 3)
      return "unknown environment variable \(name)" + (suggestion.map { " (\($0))" } ?? ", which is ignored")
    }
  }
}
