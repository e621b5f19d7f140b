internal import DequeModule
internal import ReachabilityModel

/// The updates that wait for one subscriber: at most ``Limits/pendingUpdates``, or twice the number of hosts it watches.
///
/// On overflow the waiting updates are replaced by one with the latest state and the number of omitted changes, and the
/// latest verdict for each host. So no publisher waits for a slow subscriber, the queue is bounded, and the subscriber ends
/// with the correct state.
struct SubscriberMailbox {
  private var updates: Deque<ReachabilityUpdate> = []
  private var capacity: Int

  /// A mailbox for a subscriber.
  ///
  /// - Parameter hostCount: the number of hosts that the subscriber watches; one change may concern all of them.
  init(hostCount: Int = 0) { capacity = max(Limits.pendingUpdates, 2 * hostCount) }

  var isEmpty: Bool { updates.isEmpty }

  mutating func append(_ new: some Collection<ReachabilityUpdate>) {
    updates.append(contentsOf: new)
    if updates.count > capacity { coalesce() }
  }

  mutating func popFirst() -> ReachabilityUpdate? { updates.popFirst() }

  mutating func removeAll() { updates = [] }

  private mutating func coalesce() {
    guard let latest = updates.last?.state else { return }
    var hosts: [ReachabilityUpdate] = []
    var seen: Set<ReachabilityTarget> = []
    for update in updates.reversed() {
      guard let host = update.host, seen.insert(host.target).inserted else { continue }
      // With the latest state, as in the update before them; otherwise the state of the machine would go back in time.
      hosts.append(ReachabilityUpdate(state: latest, transition: update.transition))
    }
    // Initial and coalesced updates are not changes themselves.
    let changes = updates.reduce(0) { $0 + $1.skipped + ($1.transition == nil ? 0 : 1) }
    let skipped = changes - hosts.count
    // When only the first verdicts of many hosts wait, nothing can be omitted.
    if skipped > 0 {
      updates = [ReachabilityUpdate(state: latest, transition: nil, skipped: skipped)]
      updates.append(contentsOf: hosts.reversed())
    }
    capacity = max(capacity, 2 * updates.count)
  }
}
