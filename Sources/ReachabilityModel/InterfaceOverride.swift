/// What a person says about interfaces, against what the kernel shows of them.
public struct InterfaceOverride: Hashable, Sendable {
  /// Which interfaces: a name, in which `*` stands for any characters and `?` for one.
  public var match: String
  /// What carries their packets; nil for what the kernel shows.
  public var type: InterfaceType?
  /// Whether traffic costs by its volume; nil for what follows from the type.
  public var isExpensive: Bool?
  /// Whether traffic is to be kept low; nil for not.
  public var isConstrained: Bool?

  /// An override.
  public init(match: String, type: InterfaceType? = nil, isExpensive: Bool? = nil, isConstrained: Bool? = nil) {
    self.match = match
    self.type = type
    self.isExpensive = isExpensive
    self.isConstrained = isConstrained
  }

  /// Whether it is about the interface of this name.
  public func covers(_ name: String) -> Bool {
    let (pattern, name) = (Array(match.unicodeScalars), Array(name.unicodeScalars))
    var (at, place) = (0, 0)
    // Where the last star stands, and how much of the name it has taken so far.
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
  /// What all that cover a name say together: of two that say something about the same, the first.
  public func combined(for name: String) -> InterfaceOverride {
    reduce(into: InterfaceOverride(match: name)) { result, next in
      guard next.covers(name) else { return }
      result.type = result.type ?? next.type
      result.isExpensive = result.isExpensive ?? next.isExpensive
      result.isConstrained = result.isConstrained ?? next.isConstrained
    }
  }
}
