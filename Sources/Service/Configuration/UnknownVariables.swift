/// Variables of the environment that look like ours and mean nothing: a misspelt setting would be no setting.
enum UnknownVariables {
  /// What is ours and no setting: where the file is, and what asks a service.
  private static let known: Set<String> = [
    "REACHD_CONFIG", "REACHD_URL", "REACHD_TOKEN", "REACHD_TOKEN_FILE", "REACHD_CACERT",
    ConfigurationSources.defaultListenVariable,
  ]

  /// A complaint about each, in the order of their names.
  ///
  /// Complaints and not errors: what Kubernetes sets for a Service of our name (`REACHD_PORT…`, `REACHD_SERVICE_…`) is
  /// left out, but others may set such names, too.
  static func warnings(_ environment: [String: String]) -> [String] {
    let variables = Setting.all.map(\.variable)
    return environment.keys.sorted().compactMap { name in
      guard name.hasPrefix("REACHD_"), !known.contains(name), !variables.contains(name),
        !name.hasPrefix("REACHD_PORT"), !name.hasPrefix("REACHD_SERVICE_")
      else { return nil }
      let suggestion = EditDistance.suggestion(for: name, among: variables, within: 3)
      return "\(name) is no setting" + (suggestion.map { "; \($0)" } ?? " and is ignored")
    }
  }
}
