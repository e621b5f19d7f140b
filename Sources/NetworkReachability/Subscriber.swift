package import ReachabilityModel

/// One who hears updates: a listener or a sequence.
///
/// The engine offers under its lock and wakes after it.
protocol Subscriber: AnyObject, Sendable {
  /// Takes an update into the mailbox; must not call foreign code.
  func offer(_ update: ReachabilityUpdate)
  /// Delivers what waits; called without locks.
  func wake()
  /// Ends the subscription: no delivery begins after it returns; must not call foreign code.
  func close()
  /// Closes, waits for a delivery that is under way, and lets go of who waits for one; called without locks.
  func end()
}

/// Which updates a subscriber wants.
struct Interest: Sendable {
  /// The kinds of change.
  var kinds: Transition.Kinds
  /// The watched targets whose changes it hears, when `kinds` has `.host`; each once, in the order of their first verdicts.
  let targets: [Target]
  /// The same, for looking one up: an outage is one transition for each of thousands.
  private let isWatched: Set<Target>

  init(kinds: Transition.Kinds, targets: [Target]) {
    self.kinds = kinds
    var seen: Set<Target> = []
    self.targets = targets.filter { seen.insert($0).inserted }
    isWatched = seen
  }

  func wants(_ transition: Transition) -> Bool {
    guard kinds.contains(transition.kind) else { return false }
    guard case .host(_, let verdict) = transition.change else { return true }
    return isWatched.contains(verdict.target)
  }

  /// True when it hears of this machine, not only of hosts.
  var wantsMachine: Bool { !kinds.isDisjoint(with: [.status, .path, .interface]) }
}

/// Takes every transition in the order of its number, under the engine's lock.
///
/// For what must see each of them exactly once and in order, such as an event log. It must be quick, must not block and
/// must not call back into the monitor.
package protocol TransitionSink: AnyObject, Sendable {
  /// What changed, and the state after all of it; no transitions when it is attached.
  func take(_ transitions: [Transition], _ snapshot: Snapshot)
}
