internal import DequeModule
internal import ReachabilityModel

/// Limits the concurrency of checks, in total and per host; the others wait in the order of arrival.
struct CheckConcurrencyLimiter<Run> {
  private let total: Int
  private let perHost: Int

  private struct Entry {
    var run: Run
    var host: ReachabilityTarget.Remote
  }

  private struct Host {
    var running = 0
    /// The runs that wait only for this host.
    var waiting: Deque<Run> = []
  }

  private var hosts: [ReachabilityTarget.Remote: Host] = [:]
  private var queue: Deque<Entry> = []
  /// The number of running checks.
  private(set) var running = 0

  init(total: Int, perHost: Int) {
    self.total = total
    self.perHost = perHost
  }

  /// Whether ``next()`` may return a run.
  var hasCandidates: Bool { !queue.isEmpty && running < total }

  mutating func enqueue(_ run: Run, to host: ReachabilityTarget.Remote) { queue.append(Entry(run: run, host: host)) }

  /// The next run that may start; it counts as running until ``finish(_:)``.
  mutating func next() -> (run: Run, host: ReachabilityTarget.Remote)? {
    while running < total, let entry = queue.popFirst() {
      // One dictionary access, because every check executes this code.
      guard Self.start(entry.run, in: &hosts[entry.host, default: Host()], limit: perHost) else { continue }
      running += 1
      return (entry.run, entry.host)
    }
    return nil
  }

  /// Counts a run, or lets it wait for the host.
  private static func start(_ run: Run, in host: inout Host, limit: Int) -> Bool {
    guard host.running < limit else {
      host.waiting.append(run)
      return false
    }
    host.running += 1
    return true
  }

  /// Ends a run; the first that waits for the host moves to the queue.
  mutating func finish(_ host: ReachabilityTarget.Remote) {
    guard let index = hosts.index(forKey: host) else { return }
    running -= 1
    hosts.values[index].running -= 1
    if let run = hosts.values[index].waiting.popFirst() { enqueue(run, to: host) }
    if hosts.values[index].running == 0, hosts.values[index].waiting.isEmpty { hosts.remove(at: index) }
  }
}
