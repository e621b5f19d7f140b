internal import DequeModule
internal import ReachabilityModel

/// Limits the concurrency of checks, in total and per host; the others wait in the order of arrival.
struct CheckConcurrencyLimiter {
  private let total: Int
  private let perHost: Int

  private struct Entry {
    var run: Int
    var host: ReachabilityTarget.Remote
  }

  private struct Host {
    var running = 0
    /// The runs that wait only for this host.
    var waiting: Deque<Int> = []
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

  mutating func enqueue(_ run: Int, to host: ReachabilityTarget.Remote) { queue.append(Entry(run: run, host: host)) }

  /// The next run that may start; it counts as running until ``finish(_:)``.
  mutating func next() -> (run: Int, host: ReachabilityTarget.Remote)? {
    while running < total, let entry = queue.popFirst() {
      guard hosts[entry.host, default: Host()].running < perHost else {
        hosts[entry.host]?.waiting.append(entry.run)
        continue
      }
      hosts[entry.host, default: Host()].running += 1
      running += 1
      return (entry.run, entry.host)
    }
    return nil
  }

  /// Ends a run; the first that waits for the host moves to the queue.
  mutating func finish(_ host: ReachabilityTarget.Remote) {
    guard var entry = hosts[host] else { return }
    running -= 1
    entry.running -= 1
    if let run = entry.waiting.popFirst() { enqueue(run, to: host) }
    hosts[host] = entry.running == 0 && entry.waiting.isEmpty ? nil : entry
  }
}
