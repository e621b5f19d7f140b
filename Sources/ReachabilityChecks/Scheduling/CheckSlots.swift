internal import ReachabilityModel

/// Which checks may start: so many at once in all, so many to one host, the others in the order in which they came.
struct CheckSlots {
  private let total: Int
  private let perHost: Int

  private struct Ticket {
    var run: Int
    var host: ReachabilityTarget.Remote
  }

  private struct Host {
    var running = 0
    /// Those that wait for this host alone.
    var held: [Int] = []
  }

  private var hosts: [ReachabilityTarget.Remote: Host] = [:]
  private var queue: [Ticket] = []
  /// The tickets before this one were taken already.
  private var first = 0
  /// How many are under way.
  private(set) var running = 0

  init(total: Int, perHost: Int) {
    self.total = total
    self.perHost = perHost
  }

  /// Whether a call of ``next()`` might give one.
  var hasCandidates: Bool { first < queue.count && running < total }

  mutating func enqueue(_ run: Int, to host: ReachabilityTarget.Remote) { queue.append(Ticket(run: run, host: host)) }

  /// The next run that may start; it has its slot until ``finish(_:)``.
  mutating func next() -> (run: Int, host: ReachabilityTarget.Remote)? {
    while hasCandidates {
      let ticket = queue[first]
      first += 1
      if first > 64, first > queue.count / 2 {
        queue.removeFirst(first)
        first = 0
      }
      guard hosts[ticket.host, default: Host()].running < perHost else {
        hosts[ticket.host]?.held.append(ticket.run)
        continue
      }
      hosts[ticket.host, default: Host()].running += 1
      running += 1
      return (ticket.run, ticket.host)
    }
    return nil
  }

  /// Gives a slot back; the first that waits for this host gets into the queue.
  mutating func finish(_ host: ReachabilityTarget.Remote) {
    guard var entry = hosts[host] else { return }
    running -= 1
    entry.running -= 1
    if !entry.held.isEmpty { enqueue(entry.held.removeFirst(), to: host) }
    hosts[host] = entry.running == 0 && entry.held.isEmpty ? nil : entry
  }
}
