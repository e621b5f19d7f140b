internal import NetworkReachability
internal import YAMLTree

// The hosts for which clients may use a module.
extension ModuleConfiguration {
  /// The value of `hosts`: `any`, or a list of patterns.
  static func hosts(
    _ node: YAMLNode, _ path: String, _ module: CheckModule, _ reader: inout ConfigurationSectionReader
  ) -> ModuleAccess? {
    if node.scalar != nil {
      return reader.value(node, path, "any, or a list such as [api.internal, \"http://10.0.0.0/8:8080\"]") {
        $0 == "any" ? .any : nil
      }
    }
    let elements = reader.elements(node, path, "[api.internal]")
    return .hosts(elements.enumerated().compactMap { host($1, "\(path)[\($0)]", module, &reader) })
  }

  private static func host(
    _ node: YAMLNode, _ path: String, _ module: CheckModule, _ reader: inout ConfigurationSectionReader
  ) -> HostPattern? {
    guard let text = reader.text(node, path, "a host such as api.internal") else { return nil }
    do throws(TargetError) {
      let pattern = try HostPattern(text)
      if module.fits(pattern.scheme) { return pattern }
      let schemes = CheckTarget.Scheme.allCases.filter(module.fits).map { "\($0.rawValue)://" }
      reader.addError(
        node, path, "the module has no \(pattern.scheme.rawValue):// targets",
        "write \(schemes.joined(separator: " or ")) before the host")
    } catch {
      reader.addError(node, path, error.problem, error.hint)
    }
    return nil
  }
}
