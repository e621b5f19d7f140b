public import ReachabilityModel

/// What the verdict of a target has to be, by the votes on it and on the targets that it depends on: a pure function of the
/// fold and the accepted verdict.
public struct FleetJudgement: Hashable, Sendable {
  /// What follows from its own votes.
  public var decision: FleetQuorumRules.Decision
  /// The target at the root of the outage that breaks an entry; nil when the verdict is that of its own votes.
  public var dependency: String?

  /// The verdict.
  public var verdict: FleetVerdict { dependency == nil ? decision.verdict : .unreachable }
  /// Why it is neither `up` nor decided by its own votes.
  public var reason: Reason? { dependency == nil ? decision.reason : .dependencyDown }

  /// Judges a target; nil for an unknown one.
  ///
  /// - Parameters:
  ///   - id: the target.
  ///   - fold: the votes.
  ///   - verdict: the accepted verdict: what was `down` before a target that it depends on failed stays `down`.
  public init?(of id: String, in fold: FleetFold, after verdict: FleetVerdict?) {
    guard let decision = fold.decision(for: id) else { return nil }
    self.decision = decision
    guard decision.verdict == .down, verdict != .down else { return }
    dependency = Self.path(of: id, in: fold).last
  }

  /// Judges a target as if some agents were silent; nil for an unknown one.
  init?(of id: String, in fold: FleetFold, after verdict: FleetVerdict?, silencing isSilent: (String) -> Bool) {
    guard let decision = Self.decision(of: id, in: fold, silencing: isSilent) else { return nil }
    self.decision = decision
    guard decision.verdict == .down, verdict != .down else { return }
    let path = Self.path(of: id, in: fold) { parent in
      let decision = Self.decision(of: parent, in: fold, silencing: isSilent)
      return fold.targets[parent].map { Self.state($0, decision?.verdict) } ?? .ignored
    }
    dependency = path.last
  }

  /// The failing targets from the first one that breaks an entry of a target to the root of its outage; empty when all its
  /// entries are intact.
  static func path(of id: String, in fold: FleetFold) -> [String] {
    path(of: id, in: fold) { fold.dependencies.state(of: $0) }
  }

  private static func path(
    of id: String, in fold: FleetFold, _ state: (String) -> TargetDependency.ParentState
  ) -> [String] {
    var path: [String] = []
    while path.count < TargetSpec.Bounds.dependencyDepth,
      let next = fold.targets[path.last ?? id]?.definition.spec.dependsOn.breakingParent(state)
    {
      // Two changes at one time can make a cycle. Its targets are no excuse for each other: no outage may be without `down`.
      guard next != id, !path.contains(next) else { return [] }
      path.append(next)
    }
    return path
  }

  /// Marks the targets that depend on those whose state has changed with the present message as changed by it.
  static func markDependents(in fold: inout FleetFold) {
    let touched = fold.dependencies.takeTouched()
    guard !touched.isEmpty else { return }
    let states = touched.map { id in
      (id: id, state: fold.targets[id].map { state($0, fold.decision(for: id)?.verdict) } ?? .ignored)
    }
    for id in fold.dependencies.update(states) { fold.markChanged(id) }
    // Their votes are the same as before.
    _ = fold.dependencies.takeTouched()
  }

  /// What a target is for those that depend on it.
  ///
  /// It fails while the quorum says so, whatever its accepted verdict is: that may wait for other targets or agents.
  ///
  /// - Parameters:
  ///   - target: the target.
  ///   - verdict: the verdict by its votes.
  /// - Returns: its state.
  private static func state(_ target: FleetFoldedTarget, _ verdict: FleetVerdict?) -> TargetDependency.ParentState {
    guard let verdict, !target.definition.spec.isPaused else { return .ignored }
    return switch verdict {
    case .down, .unreachable: .failing
    case .paused: .ignored
    case .up, .partial, .unknown: .working
    }
  }
}
