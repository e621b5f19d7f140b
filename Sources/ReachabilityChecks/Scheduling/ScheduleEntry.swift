internal import ReachabilityModel

/// A registered target and the state of its checks.
///
/// A class, because every access would copy its 700 bytes. Unchecked: confined to the state, and so to the schedule's lock.
final class ScheduleEntry: @unchecked Sendable {
  var report: TargetReport
  /// The reported reason of its state.
  var reason: ScheduleReasonDebouncer
  /// When the next check is due.
  var due = Duration.zero
  /// The tick of its entry in the timing wheel, or ``unplanned``.
  var tick = unplanned
  /// No tick: the first is 1.
  static let unplanned = 0
  var activity = Activity.idle
  /// The route changed during the running check, whose result may be that of the old route.
  var isUnreliable = false
  /// The number of consecutive results that were discarded.
  var retries = 0
  /// The state of the route in the kernel.
  var route = RouteState.available
  /// Whether the last result that was not `unknown` was bad.
  var isBad: Bool
  /// When the check began that gave it; nil before the first of this process.
  var lastBegun: Duration?
  /// What the target needs as a child or a parent of others.
  var dependency = DependencyState()
  /// Whether the last verdict for its host was that it is reachable.
  var hasRoute = false
  /// The last addresses of its name.
  var addresses: [IPAddress] = []
  /// The state of the last event, if the present one was not published because the target flaps.
  var unpublishedFrom: TargetState?
  /// Whether its state is that of an earlier process, and too old to count as a result.
  var isOutdated = false
  /// When the last change was published.
  var publishedAt: Duration?
  /// When a check first found the route missing that the kernel has not reported missing, while the settle time runs.
  var missingSince: Duration?

  init(_ report: TargetReport) {
    (self.report, reason) = (report, ScheduleReasonDebouncer(report.status.reason))
    isBad = report.status.state.isFailure
  }

  /// Takes over what is known of the same check with another definition.
  func takeResults(of old: ScheduleEntry) { (isBad, lastBegun) = (old.isBad, old.lastBegun) }

  /// The account that is charged with it.
  var account: TargetAccount {
    switch report.origin {
    case .configuration: .file
    case .fleet: .fleet
    case .runtime: report.token.map(TargetAccount.token) ?? .anonymous
    }
  }

  /// Whether its children see it as failing.
  var isFailing: Bool { route == .missing || isBad }

  /// Whether to check at the fast interval: the state may change, or the kernel will not report that the route returned.
  ///
  /// - Parameter isBroken: whether a parent fails, so that another result decides nothing.
  /// - Returns: whether to do so.
  func needsFastCheck(isBroken: @autoclosure () -> Bool) -> Bool {
    let status = report.status
    if status.reason == .dependencyDown { return !isBroken() }
    return status.isPending || status.state == .unreachable && route == .available
  }

  var definition: TargetDefinition { report.definition }
  var host: ReachabilityTarget.Remote { report.definition.target.host.remote }
}

extension ScheduleEntry {
  /// The state of the route to a target in the kernel.
  enum RouteState {
    /// There is a route, or its state is unknown.
    case available
    /// There is no default route, and the name cannot be resolved; only a check can find that it can be again.
    case unresolvable
    /// There is no route, so that checks would fail.
    case missing
  }

  enum Activity: Equatable {
    case idle
    case queued(run: Int, due: Duration)
    case running(run: Int, since: Duration, slot: Slot)
  }

  /// What limits the concurrency of a running check.
  enum Slot {
    /// The limits of scheduled checks, in total and per host.
    case scheduled
    /// The limit of checks of parents on behalf of their children.
    case dependency
  }
}

extension TargetState {
  /// Whether a stored state means that the last result was bad.
  var isFailure: Bool { self == .down || self == .unreachable }
}
