/// Why entries of `dependsOn` are refused that are valid alone.
public enum DependencyFault: Error, Hashable, Sendable, CustomStringConvertible {
  /// The parent is not registered, or the target may not depend on it.
  case unknown(parent: String)
  /// The targets of a cycle; the last is the first.
  case cycle([String])
  /// More targets depend on each other in succession than the limit.
  case tooDeep(limit: Int)

  /// What is wrong.
  public var problem: String {
    switch self {
    case .unknown(let parent): "there is no target \(parent.debugDescription) to depend on"
    case .cycle(let targets): "\(targets.joined(separator: " → ")) is a cycle"
    case .tooDeep(let limit): "more than \(limit) targets depend on each other in succession"
    }
  }

  /// What would be right.
  public var hint: String {
    switch self {
    case .unknown: "targets of the configuration file can depend on each other only, and those of clients on both kinds"
    case .cycle: "remove one of these dependencies"
    case .tooDeep: "let some of them depend on a target further up"
    }
  }

  /// The problem and the hint in one line.
  public var description: String { "\(problem); \(hint)" }
}
