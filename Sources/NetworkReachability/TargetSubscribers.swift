internal import ReachabilityModel

/// For each watched target, the numbers of its subscriptions.
///
/// A column by identifier, because a change may concern a hundred thousand targets.
struct TargetSubscribers {
  private var numbers: [Set<Int>] = []

  subscript(target: EngineTargetID) -> Set<Int> { Int(target) < numbers.count ? numbers[Int(target)] : [] }

  /// Adds a subscription to watched targets.
  mutating func insert(_ number: Int, for targets: [ReachabilityTarget], _ state: EngineState) {
    for target in targets {
      guard let id = state.id(of: target) else { continue }
      while numbers.count <= Int(id) { numbers.append([]) }
      numbers[Int(id)].insert(number)
    }
  }

  /// Removes a subscription to targets that are still watched.
  mutating func remove(_ number: Int, for targets: [ReachabilityTarget], _ state: EngineState) {
    for target in targets {
      guard let id = state.id(of: target), Int(id) < numbers.count else { continue }
      numbers[Int(id)].remove(number)
    }
  }
}
