internal import ReachabilityModel

/// What one publication delivers: transitions, and which targets they concern.
struct Publication {
  /// All transitions in order.
  var transitions: [Transition] = []
  /// The identifiers of the targets of the transitions of kind `host`, in their order.
  var targets: [TargetID] = []
}

/// For each watched target, the numbers of its subscriptions.
///
/// A column by identifier, because a change may concern a hundred thousand targets.
struct TargetSubscribers {
  private var numbers: [Set<Int>] = []

  /// The subscriptions to a target.
  subscript(target: TargetID) -> Set<Int> { Int(target) < numbers.count ? numbers[Int(target)] : [] }

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
