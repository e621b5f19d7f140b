internal import NetworkReachability

/// The effect of a result on a ``ScheduleState``.
enum CheckEffect: Equatable {
  /// None, because the run was cancelled before.
  case ignored
  /// The result is discarded and the target is checked again.
  case retried
  /// The result counts only if the route is still missing after the settle time; waiting callers receive it.
  case settling
  /// The result counts, and may change the target's state.
  case accepted(EngineTargetChange?)
  /// The kernel has reported the route as missing, but the check did not; its report is requested again, because it may be
  /// outdated.
  case contradicted

  /// Whether the result is one of the target.
  var isCounted: Bool {
    guard case .accepted = self else { return false }
    return true
  }

  /// The changes to publish; nil when waiting callers have to wait for another result.
  var changes: [EngineTargetChange]? {
    switch self {
    case .ignored, .retried: nil
    case .accepted(let change): change.map { [$0] } ?? []
    case .contradicted, .settling: []
    }
  }
}
