public import ReachabilityModel

/// What a subscriber receives: first the present state, then every change with the state after it.
public struct ReachabilityUpdate: Hashable, Sendable {
  /// The state of this machine after the change.
  public var snapshot: Snapshot { state.value }
  /// The change; nil for the first update, which has the present state, and when changes were ``skipped``.
  public let transition: Transition?
  /// The number of changes that were omitted before this one because the subscriber was too slow; normally 0.
  ///
  /// The latest state is kept, not the oldest changes.
  public let skipped: Int

  /// By reference, because ten thousand updates after one change share it.
  let state: SharedValue<Snapshot>

  /// An update.
  public init(snapshot: Snapshot, transition: Transition? = nil, skipped: Int = 0) {
    self.init(state: SharedValue(snapshot), transition: transition, skipped: skipped)
  }

  init(state: SharedValue<Snapshot>, transition: Transition?, skipped: Int = 0) {
    self.state = state
    self.transition = transition
    self.skipped = skipped
  }

  /// Whether this is the first update about this machine, which is not a change; the first about a watched host has
  /// `from == nil`.
  public var isInitial: Bool { transition == nil && skipped == 0 }

  /// This machine's status.
  public var status: ReachabilityStatus { snapshot.status }

  /// The registered target that changed, also when it was removed; nil when something else changed.
  public var registeredTarget: TargetReport? {
    guard case .target(_, let report, _) = transition?.change else { return nil }
    return report
  }

  /// The verdict for the watched target that changed; nil when something else changed.
  public var host: HostVerdict? {
    guard case .host(_, let verdict) = transition?.change else { return nil }
    return verdict
  }
}
