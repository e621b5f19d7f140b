internal import NetworkReachability
internal import ReachabilityModel

/// The hosts of the registered targets, whose routes the monitor watches for the schedule.
struct RouteWatches {
  private let monitor: ReachabilityMonitor
  let observer: RouteObserver
  private let watcher: Int
  /// The identifiers of the targets of each host.
  private var ids: [ReachabilityTarget: Set<String>] = [:]

  init(_ monitor: ReachabilityMonitor, reportingTo observer: RouteObserver) {
    self.monitor = monitor
    self.observer = observer
    watcher = monitor.makeWatcherID()
  }

  /// The identifiers of the targets of a host.
  func targets(of host: ReachabilityTarget) -> Set<String> { ids[host] ?? [] }

  /// Watches the host of a target.
  mutating func add(_ definition: TargetDefinition) {
    let host = definition.target.host
    let isNew = ids[host] == nil
    ids[host, default: []].insert(definition.id)
    // A host that is already watched causes no transition for the new target, so its verdict is reported.
    if isNew {
      monitor.watch(host, for: watcher, reportingTo: observer)
    } else {
      report(host)
    }
  }

  /// Stops to watch the host of a target, unless it has other targets.
  mutating func remove(_ definition: TargetDefinition) {
    let host = definition.target.host
    ids[host]?.remove(definition.id)
    guard ids[host]?.isEmpty == true else { return }
    ids[host] = nil
    monitor.unwatch(host, for: watcher)
  }

  /// Reports the present verdict for a host to the observer again.
  func report(_ host: ReachabilityTarget) { monitor.report(host, to: observer) }

  /// Stops to watch all hosts.
  mutating func removeAll() {
    for host in ids.keys { monitor.unwatch(host, for: watcher) }
    ids = [:]
  }
}
