/// When a replica requests the bases that its fold needs: each again until it is folded.
///
/// The time is an input.
struct FleetBaseRequests: Sendable {
  private var times: [String: Duration] = [:]

  /// The present agents that have to publish a base, because events of them are missing, or the stream has none; sorted.
  static func awaited(_ fold: FleetFold) -> [String] {
    fold.nodes.filter { id, node in
      guard node.state == .present, node.isAgent || node.hello == nil else { return false }
      return fold.missingBases.contains(id) || node.isAgent && !node.hasBase
    }.keys.sorted()
  }

  /// Everything that the stream had is folded: what is missing then is requested immediately.
  mutating func begin(_ fold: FleetFold, at now: Duration) {
    times = [:]
    for agent in Self.awaited(fold) { times[agent] = now }
  }

  /// The agents to ask now; not all of them together, so that a large fleet does not publish all bases at one time.
  ///
  /// An agent that says `hello` publishes a base by itself.
  mutating func due(_ fold: FleetFold, at now: Duration) -> [String] {
    let awaited = Self.awaited(fold)
    let known = times
    times = [:]
    for agent in awaited {
      let first = fold.missingBases.contains(agent) ? now : now + FleetLimits.baseRepetition
      times[agent] = known[agent] ?? first
    }
    let due = awaited.filter { times[$0].map { $0 <= now } ?? false }.prefix(FleetLimits.basesPerRound)
    for agent in due { times[agent] = now + FleetLimits.baseRepetition }
    return Array(due)
  }
}
