internal import ReachabilityModel

/// Updates that wait for one subscriber: ``Limits/pendingUpdates`` of them, or twice as many as hosts that it watches.
///
/// When a slow subscriber lets it overflow, what waits collapses into one update that tells the latest state and how many
/// changes were left out, and the latest verdict of each host: nobody is awaited, nothing grows without bound, and the
/// subscriber ends up right.
struct Mailbox {
  private var updates: [ReachabilityUpdate] = []
  /// The updates before this one were taken already.
  private var first = 0
  private var capacity = Limits.pendingUpdates

  var isEmpty: Bool { first == updates.count }

  mutating func put(_ update: ReachabilityUpdate) {
    updates.append(update)
    if updates.count - first > capacity { collapse() }
  }

  mutating func take() -> ReachabilityUpdate? {
    guard first < updates.count else { return nil }
    let update = updates[first]
    first += 1
    // Moving the rest up only now and then makes a long queue linear.
    if first > updates.count / 2 {
      updates.removeFirst(first)
      first = 0
    }
    return update
  }

  mutating func clear() { self = Mailbox() }

  private mutating func collapse() {
    let waiting = updates[first...]
    guard let latest = waiting.last?.state else { return }
    var hosts: [ReachabilityUpdate] = []
    var seen: Set<ReachabilityTarget> = []
    for update in waiting.reversed() {
      guard let host = update.host, seen.insert(host.target).inserted else { continue }
      // With the latest state, like the update before them: else the machine would seem to go back in time.
      hosts.append(ReachabilityUpdate(state: latest, transition: update.transition))
    }
    // An initial update and a collapsed one are no changes themselves.
    let changes = waiting.reduce(0) { $0 + $1.skipped + ($1.transition == nil ? 0 : 1) }
    let skipped = changes - hosts.count
    // The first verdicts of many hosts may be all that waits: then there is nothing to leave out.
    if skipped > 0 {
      updates = [ReachabilityUpdate(state: latest, transition: nil, skipped: skipped)] + hosts.reversed()
      first = 0
    }
    capacity = max(Limits.pendingUpdates, 2 * (updates.count - first))
  }
}
