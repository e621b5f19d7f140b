package import ReachabilityModel

/// A receiver of updates: a listener or a sequence.
///
/// The engine calls ``offer(_:)`` under its lock and ``wake()`` after it.
protocol Subscriber: AnyObject, Sendable {
  /// Puts the updates of one publication into the mailbox; must not call foreign code.
  func offer(_ updates: [ReachabilityUpdate])
  /// Delivers waiting updates; called without a lock.
  func wake()
  /// Ends the subscription: no delivery begins after it returns; must not call foreign code.
  func close()
  /// Closes, waits for a delivery in progress unless configured otherwise, and resumes a waiting consumer; called without a
  /// lock.
  func end()
}

/// The updates that a subscription includes.
struct SubscriptionFilter: Sendable {
  var kinds: Transition.Kinds
  /// The watched targets, when `kinds` contains `.host`; each once, in the order of their first verdicts.
  let targets: [ReachabilityTarget]
  /// The client of the service that the subscription is for: names are resolved apart from those of other subscriptions.
  var client: String?

  init(kinds: Transition.Kinds, targets: [ReachabilityTarget]) {
    self.kinds = kinds
    var seen: Set<ReachabilityTarget> = []
    self.targets = targets.filter { seen.insert($0).inserted }
  }

  /// Whether changes of this machine are included, not only those of hosts.
  var includesMachine: Bool { !kinds.isDisjoint(with: [.status, .path, .interface]) }
}

/// Receives every transition in the order of their numbers, under the engine's lock.
///
/// For components that need each transition exactly once and in order, such as an event log. It must return quickly, must
/// not block and must not call back into the monitor.
package protocol TransitionSink: AnyObject, Sendable {
  /// The transitions and the state after all of them; no transitions when the sink is attached.
  func take(_ transitions: [Transition], _ snapshot: Snapshot)
}

/// Receives the present verdict for a target that it watches, under the engine's lock.
///
/// The verdict arrives in order with what a ``TransitionSink`` receives, so that the latest of both is current; the same
/// rules apply.
package protocol VerdictSink: AnyObject, Sendable {
  func take(_ verdict: HostVerdict)
}

/// The watched targets that one reading evaluated.
package struct Reevaluation {
  /// The targets whose routes were looked up because of a change that affects them, or because they are new; each at least
  /// once, unordered, with or without a new verdict.
  ///
  /// Collected on access, because there may be a hundred thousand.
  package var targets: [ReachabilityTarget] { collect() }
  /// The causes that the kernel reported, in the order of ``Cause/inOrder``.
  package let causes: [Cause]
  /// When the reading was made.
  package let time: Timestamp
  let collect: () -> [ReachabilityTarget]
}

/// Observes which targets a change of the kernel affects, for components that check targets and repeat those checks.
///
/// It is called before the transitions of the same reading are published, under the engine's lock, on the thread that reads
/// the kernel: it must return quickly, must not block and must not call back into the monitor. A change that affects no
/// watched target causes no call; lost events affect every target.
package protocol ReevaluationObserver: AnyObject, Sendable {
  /// A reading evaluated targets.
  func didReevaluate(_ reevaluation: Reevaluation)
}
