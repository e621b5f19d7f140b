internal import NetworkReachability

/// An override of an interface's class as a setting writes it: `match=usb* type=wwan expensive=true`.
enum InterfaceText {
  static let keys = ["match", "type", "expensive", "constrained"]

  /// The override; nil when a key or value is not known, `match` is missing, or nothing is said about what it matches.
  static func parse(_ text: String) -> InterfaceOverride? {
    var override = InterfaceOverride(match: "")
    for word in text.split(separator: " ") {
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 2, set(&override, parts[0], parts[1]) else { return nil }
    }
    let saysSomething = override.type != nil || override.isExpensive != nil || override.isConstrained != nil
    return override.match.isEmpty || !saysSomething ? nil : override
  }

  private static func set(_ override: inout InterfaceOverride, _ key: String, _ value: String) -> Bool {
    switch key {
    case "match":
      override.match = value
      return true
    case "type":
      override.type = InterfaceType(rawValue: value)
      return override.type != nil
    case "expensive":
      override.isExpensive = Bool(value)
      return override.isExpensive != nil
    case "constrained":
      override.isConstrained = Bool(value)
      return override.isConstrained != nil
    default: return false
    }
  }
}
