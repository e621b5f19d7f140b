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
  /// They are warnings because other programs may set such names. The variables that Kubernetes sets for a Service whose name
  /// begins with `reachd` (`REACHD_PORT…`, `REACHD_SERVICE_…`, `REACHD_FLEET_PORT…`) are left out.
  static func warnings(_ environment: [String: String]) -> [String] {
    let variables = Setting.all.map(\.variable)
    // Kubernetes sets this one for each Service, and the others of the same Service with it.
    let services = environment.keys.filter { $0.hasPrefix("REACHD_") && $0.hasSuffix("_SERVICE_HOST") }
      .map { $0.dropLast("SERVICE_HOST".count) }
    func isOfService(_ name: String) -> Bool {
      services.contains { name.hasPrefix("\($0)SERVICE_") || name.hasPrefix("\($0)PORT") }
    }
    return environment.keys.sorted().compactMap { name in
      guard name.hasPrefix("REACHD_"), !known.contains(name), !variables.contains(name),
        !name.hasPrefix("REACHD_PORT"), !name.hasPrefix("REACHD_SERVICE_"), !isOfService(name)
      else { return nil }
      let suggestion = EditDistance.suggestion(for: name, among: variables, within: 3)
      return "unknown environment variable \(name)" + (suggestion.map { " (\($0))" } ?? ", which is ignored")
    }
  }
}
