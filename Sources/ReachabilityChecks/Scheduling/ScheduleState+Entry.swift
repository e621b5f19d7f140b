internal import ReachabilityModel

extension ScheduleState {
  /// A registered target and the state of its checks.
  ///
  /// A class, because every access would copy its 700 bytes. Unchecked: confined to the state, and so to the schedule's lock.
  final class Entry: @unchecked Sendable {
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

    init(_ report: TargetReport) { (self.report, reason) = (report, ScheduleReasonDebouncer(report.status.reason)) }

    /// The account that is charged with it.
    var account: TargetAccount {
      switch report.origin {
      case .configuration: .file
      case .fleet: .fleet
      case .runtime: report.token.map(TargetAccount.token) ?? .anonymous
      }
    }

    /// Whether to check at the fast interval: the state may change, or the kernel will not report that the route returned.
    var needsFastCheck: Bool {
      report.status.isPending || report.status.state == .unreachable && route == .available
    }

    var definition: TargetDefinition { report.definition }
    var host: ReachabilityTarget.Remote { report.definition.target.host.remote }
  }

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
    case running(run: Int, since: Duration)
  }
}
