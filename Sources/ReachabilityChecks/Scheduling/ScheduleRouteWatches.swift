internal import NetworkReachability
internal import ReachabilityModel

/// The hosts of the registered targets, whose routes the monitor watches for the schedule.
struct ScheduleRouteWatches {
  private let monitor: ReachabilityMonitor
  let observer: ScheduleRouteObserver
  private let watcher: Int
  /// The identifiers of the targets of each host.
  private var ids: [ReachabilityTarget: Set<String>] = [:]
  /// The targets of each host that wait for a report of its present verdict, which was requested.
  private var awaitingReport: [ReachabilityTarget: Set<String>] = [:]

  init(_ monitor: ReachabilityMonitor, reportingTo observer: ScheduleRouteObserver) {
    self.monitor = monitor
    self.observer = observer
    watcher = monitor.makeWatcherID()
  }

  /// The targets to which a change applies: a transition to all targets of the host, a repeated report to those that wait
  /// for one.
  ///
  /// With many targets of one host, applying each report to all of them would make their registration quadratic.
  mutating func takeTargets(of change: ScheduleRouteObserver.Change) -> Set<String> {
    let host = change.verdict.target
    let waiting = awaitingReport.removeValue(forKey: host) ?? []
    // A report that no target waits for belongs to a host that was removed and added again: the later one counts for all.
    return change.isReport && !waiting.isEmpty ? waiting : ids[host] ?? []
  }

  /// Watches the host of a target.
  mutating func add(_ definition: TargetDefinition) {
    let host = definition.target.routeTarget
    let isNew = ids[host] == nil
    ids[host, default: []].insert(definition.id)
    // A host that is already watched causes no transition for the new target, so its verdict is reported.
    if isNew {
      awaitingReport[host] = [definition.id]
      monitor.watch(host, for: watcher, reportingTo: observer)
    } else {
      report(host, to: definition.id)
    }
  }

  /// Stops to watch the host of a target, unless it has other targets.
  mutating func remove(_ definition: TargetDefinition) {
    let host = definition.target.routeTarget
    ids[host]?.remove(definition.id)
    awaitingReport[host]?.remove(definition.id)
    guard ids[host]?.isEmpty == true else { return }
    ids[host] = nil
    awaitingReport[host] = nil
    monitor.unwatch(host, for: watcher)
  }

  /// Requests a report of the present verdict for a host to one of its targets; one report serves all that wait.
  mutating func report(_ host: ReachabilityTarget, to id: String) {
    let isRequested = awaitingReport[host]?.isEmpty == false
    awaitingReport[host, default: []].insert(id)
    if !isRequested { monitor.report(host, to: observer) }
  }

  /// Stops to watch all hosts.
  mutating func removeAll() {
    for host in ids.keys { monitor.unwatch(host, for: watcher) }
    ids = [:]
    awaitingReport = [:]
  }
}
