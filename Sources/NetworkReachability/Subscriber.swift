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
  /// Closes, waits for a delivery that is under way unless it was made not to, and lets go of who waits for one; called without locks.
  func end()
}

/// Which updates a subscriber wants.
struct Interest: Sendable {
  /// The kinds of change.
  var kinds: Transition.Kinds
  /// The watched targets whose changes it hears, when `kinds` has `.host`; each once, in the order of their first verdicts.
  let targets: [ReachabilityTarget]
  /// Whether it is a visitor of a service who is interested, whose names stand in a line of their own.
  var isVisitors = false

  init(kinds: Transition.Kinds, targets: [ReachabilityTarget]) {
    self.kinds = kinds
    var seen: Set<ReachabilityTarget> = []
    self.targets = targets.filter { seen.insert($0).inserted }
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

/// Takes the verdict over a target that it has watched, as it is and not as it changes, under the engine's lock.
///
/// Told among what a ``TransitionSink`` is told, so that of the two the youngest stands last; the same rules hold.
package protocol VerdictSink: AnyObject, Sendable {
  /// What is so at this moment.
  func take(_ verdict: HostVerdict)
}

/// Which watched targets one reading judged anew.
package struct Judgement {
  /// The targets whose routes the kernel was asked about because something that touches them had changed, or because they
  /// are new; each at least once, in no order, whether or not the verdict came out another.
  ///
  /// Gathered when asked for: there may be a hundred thousand.
  package var targets: [ReachabilityTarget] { gather() }
  /// What the kernel said had happened, in the order of ``Cause/inOrder``.
  package let causes: [Cause]
  /// When the reading was made.
  package let time: Timestamp
  let gather: () -> [ReachabilityTarget]
}

/// Hears which targets' routes a change of the kernel touched: for whoever probes targets and should probe these now.
///
/// It is told before the transitions of the same reading are, under the engine's lock, on the thread that reads the
/// kernel: it must be quick (take note and wake another thread), must not block and must not call back into the monitor.
/// A change that touches nothing that is watched is not told; after lost events every target is touched.
package protocol JudgementSink: AnyObject, Sendable {
  /// These targets were judged anew.
  func judged(_ judgement: Judgement)
}
