public import ReachabilityModel

/// What a subscriber hears: first the state as it is, then every change with the state after it.
public struct ReachabilityUpdate: Hashable, Sendable {
  /// The state of this machine after the change.
  public var snapshot: Snapshot { state.value }
  /// What changed; nil for the first update, which tells the state as it is, and after ``skipped`` ones.
  public let transition: Transition?
  /// How many changes were left out before this one because the subscriber was too slow; normally 0.
  ///
  /// What is kept is the latest state, not the oldest news.
  public let skipped: Int

  /// By reference: of ten thousand updates after one change all have the same.
  let state: Shared<Snapshot>

  /// An update.
  public init(snapshot: Snapshot, transition: Transition? = nil, skipped: Int = 0) {
    self.init(state: Shared(snapshot), transition: transition, skipped: skipped)
  }

  init(state: Shared<Snapshot>, transition: Transition?, skipped: Int = 0) {
    self.state = state
    self.transition = transition
    self.skipped = skipped
  }

  /// True for the first update about this machine, which is no change; the first of a watched host has `from == nil`.
  public var isInitial: Bool { transition == nil && skipped == 0 }

  /// This machine's status.
  public var status: ReachabilityStatus { snapshot.status }

  /// The registered target that this update is about, also when it has just been removed; nil when it is about something
  /// else.
  public var registeredTarget: TargetReport? {
    guard case .target(_, let report, _) = transition?.change else { return nil }
    return report
  }

  /// The verdict of the watched target that this update is about; nil when it is about this machine.
  public var host: HostVerdict? {
    guard case .host(_, let verdict) = transition?.change else { return nil }
    return verdict
  }
}
