internal import ReachabilityModel

/// The wait of a verdict `down` for the targets that it depends on.
///
/// After an outage of one of them, the target itself is checked first: what its agents said during the outage is out of date.
struct FleetDependencyHold: Hashable, Sendable {
  /// When this replica began to ask; nil before that.
  private(set) var begun: Duration?
  /// When the agents had confirmed that the target fails since its dependencies work again.
  private var confirmed: Duration?
  /// Until when another replica asks.
  private var deferred: Duration?

  /// Decides whether a target waits.
  ///
  /// - Parameters:
  ///   - id: the target, whose verdict would become `down`.
  ///   - rank: the rank of this replica: the first one asks, and another one when that has led to no verdict.
  ///   - fold: the votes.
  ///   - questions: what the agents were asked.
  ///   - now: the monotonic time.
  /// - Returns: when to consider it again; nil when it does not wait.
  mutating func wait(
    _ id: String, rank: Int, _ fold: FleetFold, _ questions: inout FleetQuestions, at now: Duration
  ) -> Duration? {
    guard let target = fold.targets[id] else { return nil }
    let isRecovery = target.verdict?.message.dependency != nil
    let parents = Set(target.definition.spec.dependsOn.flatMap(\.parents))
      .filter { fold.dependencies.state(of: $0) == .working }.sorted()
    guard isRecovery || !parents.isEmpty else { return nil }
    if begun == nil, rank > 0 {
      let longest =
        (isRecovery ? FleetQuestions.longest(id, .child, fold) : .zero)
        + (parents.map { FleetQuestions.longest($0, .parent, fold) }.max() ?? .zero)
      let end = deferred ?? now + longest
      deferred = end
      // Its rank may change.
      if now < end { return min(end, now + FleetLimits.dependencyReview) }
    }
    let begun = begun ?? now
    self.begun = begun
    if isRecovery, confirmed == nil {
      if case .wait(let time) = questions.step(id, .child, since: begun, fold, at: now) { return time }
      confirmed = now
    }
    // One that has failed again since the target was checked is found.
    let since = confirmed ?? begun
    return parents.compactMap { parent -> Duration? in
      if case .wait(let time) = questions.step(parent, .parent, since: since, fold, at: now) { time } else { nil }
    }.min()
  }
}
