internal import ReachabilityModel

/// Updates that wait for one subscriber, at most ``Limits/pendingUpdates`` of them.
///
/// When a slow subscriber lets it overflow, the machine's updates that wait collapse into one that tells the latest state
/// and how many were left out, and of each host the latest verdict stays: nobody is awaited, nothing grows without bound,
/// and the subscriber ends up right.
struct Mailbox {
  private var updates: [ReachabilityUpdate] = []

  var isEmpty: Bool { updates.isEmpty }

  mutating func put(_ update: ReachabilityUpdate) {
    updates.append(update)
    if updates.count > Limits.pendingUpdates { collapse() }
  }

  mutating func take() -> ReachabilityUpdate? {
    updates.isEmpty ? nil : updates.removeFirst()
  }

  mutating func clear() { updates = [] }

  private mutating func collapse() {
    guard let latest = updates.last?.snapshot else { return }
    var hosts: [ReachabilityUpdate] = []
    var seen: Set<Target> = []
    for update in updates.reversed() {
      if let host = update.host, seen.insert(host.target).inserted { hosts.append(update) }
    }
    hosts.reverse()
    // A subscriber to more hosts than fit is told to look at the verdicts itself.
    if hosts.count >= Limits.pendingUpdates { hosts = [] }
    let skipped = updates.reduce(updates.count - hosts.count) { $0 + $1.skipped }
    updates = [ReachabilityUpdate(snapshot: latest, skipped: skipped)] + hosts
  }
}
