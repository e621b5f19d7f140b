public import ReachabilityModel

/// What a subscriber hears: first the state as it is, then every change with the state after it.
public struct ReachabilityUpdate: Hashable, Sendable {
  /// The state of this machine after the change.
  public var snapshot: Snapshot { state.snapshot }
  /// What changed; nil for the first update, which tells the state as it is, and after ``skipped`` ones.
  public let transition: Transition?
  /// How many changes were left out before this one because the subscriber was too slow; normally 0.
  ///
  /// What is kept is the latest state, not the oldest news.
  public let skipped: Int

  /// By reference: of ten thousand updates after one change all have the same.
  let state: SharedSnapshot

  /// An update.
  public init(snapshot: Snapshot, transition: Transition? = nil, skipped: Int = 0) {
    self.init(state: SharedSnapshot(snapshot), transition: transition, skipped: skipped)
  }

  init(state: SharedSnapshot, transition: Transition?, skipped: Int = 0) {
    self.state = state
    self.transition = transition
    self.skipped = skipped
  }

  /// True for the first update of a subscription.
  public var isInitial: Bool { transition == nil && skipped == 0 }

  /// This machine's status.
  public var status: ReachabilityStatus { snapshot.status }

  /// The registered target that this update is about; nil when it is about something else.
  public var registeredTarget: TargetReport? {
    guard case .target(_, let report) = transition?.change else { return nil }
    return report
  }

  /// The verdict of the watched target that this update is about; nil when it is about this machine.
  public var host: HostVerdict? {
    guard case .host(_, let verdict) = transition?.change else { return nil }
    return verdict
  }
}

/// A snapshot that many updates hold; equal when what it says is.
final class SharedSnapshot: Hashable, Sendable {
  let snapshot: Snapshot

  init(_ snapshot: Snapshot) { self.snapshot = snapshot }

  static func == (left: SharedSnapshot, right: SharedSnapshot) -> Bool {
    left === right || left.snapshot == right.snapshot
  }

  func hash(into hasher: inout Hasher) { hasher.combine(snapshot) }
}
