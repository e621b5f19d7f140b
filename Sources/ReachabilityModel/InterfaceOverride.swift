/// Interface properties from the configuration that override those derived from the kernel.
public struct InterfaceOverride: Hashable, Sendable {
  /// The interfaces: a name, in which `*` matches any characters and `?` one.
  public var match: String
  /// The medium; nil to derive it from the kernel.
  public var type: InterfaceType?
  /// Whether traffic is billed by volume; nil to derive it from the type.
  public var isExpensive: Bool?
  /// Whether traffic should be kept low; nil for no.
  public var isConstrained: Bool?

  /// Creates an override.
  public init(match: String, type: InterfaceType? = nil, isExpensive: Bool? = nil, isConstrained: Bool? = nil) {
    self.match = match
    self.type = type
    self.isExpensive = isExpensive
    self.isConstrained = isConstrained
  }

  /// Whether it applies to the interface of this name.
  public func covers(_ name: String) -> Bool {
    let (pattern, name) = (Array(match.unicodeScalars), Array(name.unicodeScalars))
    var (at, place) = (0, 0)
    // The position of the last star, and the end of what it has matched in the name.
    var star: (at: Int, place: Int)?
    while place < name.count {
      if at < pattern.count, pattern[at] == "*" {
        star = (at, place)
        at += 1
      } else if at < pattern.count, pattern[at] == "?" || pattern[at] == name[place] {
        at += 1
        place += 1
      } else if let last = star {
        star = (last.at, last.place + 1)
        (at, place) = (last.at + 1, last.place + 1)
      } else {
        return false
      }
    }
    return pattern[at...].allSatisfy { $0 == "*" }
  }
}

extension [InterfaceOverride] {
  /// The combination of all overrides that cover a name; for each property the first one wins.
  public func combined(for name: String) -> InterfaceOverride {
    reduce(into: InterfaceOverride(match: name)) { result, next in
      guard next.covers(name) else { return }
      result.type = result.type ?? next.type
      result.isExpensive = result.isExpensive ?? next.isExpensive
      result.isConstrained = result.isConstrained ?? next.isConstrained
    }
  }
}
