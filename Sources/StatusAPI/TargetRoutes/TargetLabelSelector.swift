internal import HTTPRouting
internal import NetworkReachability

/// A label selector: `env=prod`, or `env` for any value.
struct TargetLabelSelector: Hashable {
  /// The maximum number of selectors: each is compared with every target.
  static let limit = 16

  private var name: String
  private var value: String?

  func matches(_ definition: TargetDefinition) -> Bool {
    guard let found = definition.labels[name] else { return false }
    return value.map { $0 == found } ?? true
  }

  /// Parses the parameter `label`: a comma-separated list, all of which must match.
  static func parse(_ text: String?) throws(Problem) -> Set<TargetLabelSelector> {
    guard let text else { return [] }
    let words = ListParameter.words(text)
    guard words.count <= limit else {
      throw Problem(.badRequest, "label must have at most \(limit) selectors, got \(words.count)")
    }
    var rules: Set<TargetLabelSelector> = []
    for word in words {
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = parts.first, !name.isEmpty else {
        throw Problem(
          .badRequest, "label must be a list such as env=prod,team, got \(text.prefix(80).debugDescription)")
      }
      rules.insert(TargetLabelSelector(name: String(name), value: parts.count > 1 ? String(parts[1]) : nil))
    }
    return rules
  }
}
