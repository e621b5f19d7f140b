internal import ReachabilityModel

/// Which targets depend on which, and which of them wait for results of their parents: a value that takes times.
///
/// It changes only the ``DependencyState`` of entries; ``ScheduleState`` has the entries, and carries the rest out.
struct DependencyTracker {
  typealias Entries = [String: ScheduleEntry]

  private(set) var graph = DependencyGraph()
  private(set) var questions = DependencyQuestions()

  /// The number of running checks of parents.
  var running: Int { questions.running }
  /// Whether there are targets to decide about.
  var hasTouched: Bool { questions.hasTouched }
  /// When ``takeStarts(_:_:at:limit:)`` must be called next; nil for never.
  var wakeTime: Duration? { questions.wakeTime }

  // MARK: - States

  /// The state of a target as its children see it.
  func state(of id: String, in entries: Entries) -> TargetDependency.ParentState {
    guard let entry = entries[id], !entry.definition.isPaused else { return .ignored }
    return entry.isFailing ? .failing : .working
  }

  /// The root of the outage that breaks an entry of a target, by the last results of its parents; nil while all entries are intact.
  func root(of id: String, in entries: Entries) -> String? {
    graph.root(of: id) { parent, _ in state(of: parent, in: entries) }
  }

  /// Completes a held change when the results of the parents are known.
  mutating func decide(_ entry: ScheduleEntry, _ status: inout TargetStatus, in entries: Entries, at time: Timestamp) {
    let id = entry.definition.id
    if status.isWaitingForDependency {
      let awaited = entry.dependency.awaited
      // A parent without a new result breaks no entry; after the limit of the wait its last one decides.
      let root = graph.root(of: id) { parent, isOwn in
        isOwn && awaited.contains(parent) ? .working : state(of: parent, in: entries)
      }
      // One broken entry decides: the other parents need not be known.
      guard root != nil || awaited.isEmpty else { return }
      status.decide(brokenBy: root, entry.definition, at: time)
      // It is the root for those below it whose former root works again.
      if status.state == .down { touchOutages(graph.descendants(of: id), in: entries) }
    }
    entry.dependency.awaited = []
  }

  /// The root of an outage that explains a failure which arrives now.
  ///
  /// An outage has not ended before the target is decided about: its checks in progress began during it.
  func rootOfFailure(of entry: ScheduleEntry, in entries: Entries) -> String? {
    let id = entry.definition.id
    return root(of: id, in: entries) ?? (questions.isTouched(id) ? entry.report.status.dependency : nil)
  }

  // MARK: - Changes

  /// Replaces the entries of `dependsOn` of a target.
  mutating func set(_ id: String, _ dependsOn: [TargetDependency], in entries: Entries) {
    guard graph.set(id, dependsOn) else { return }
    questions.touch(id)
    // Their roots may be others.
    touchOutages(graph.descendants(of: id), in: entries)
  }

  /// Touches the targets that depend on one whose state is another now.
  mutating func parentChanged(_ id: String, from old: TargetDependency.ParentState, in entries: Entries) {
    guard !graph.isEmpty else { return }
    let new = state(of: id, in: entries)
    if new == old { return }
    if new == .failing {
      // A root may move up for all that depend on it.
      return touchOutages(graph.descendants(of: id), in: entries)
    }
    let children = graph.children(of: id)
    // The results of its parents so far do not explain the next failures of a child.
    if old == .failing { for child in children { entries[child]?.dependency.failingSince = nil } }
    touchOutages(children, in: entries)
  }

  /// Touches those targets that are in an outage of others.
  private mutating func touchOutages(_ ids: Set<String>, in entries: Entries) {
    for id in ids where entries[id]?.report.status.reason == .dependencyDown { questions.touch(id) }
  }

  /// Removes and returns the next target to decide about.
  mutating func takeTouched() -> String? { questions.takeTouched() }

  // MARK: - Questions

  /// Asks the parents of a target that have no result of a check begun since its first bad result.
  mutating func ask(
    _ child: ScheduleEntry, _ entries: Entries, _ ledger: inout QuotaLedger, at now: Duration
  ) {
    let since = child.dependency.failingSince ?? now
    child.dependency.awaited = []
    for id in graph.parents(of: child.definition.id) {
      guard let parent = entries[id], !parent.definition.isPaused, parent.route != .missing else { continue }
      if let begun = parent.lastBegun, begun >= since { continue }
      var (deadline, earliest): (Duration, Duration?) = (now + Limits.dependencyWait, nil)
      if case .running(_, let begun, _) = parent.activity, begun >= since {
        deadline = Self.deadline(parent, at: now)
      } else {
        // One check for all children, charged to the first; without credit the last result decides.
        guard questions.isAsked(id) || ledger.admit(1, for: child.account, at: now) == .admitted else { continue }
        earliest = Self.nextQuestion(parent, ledger, at: now)
      }
      questions.add(child.definition.id, since: since, to: id, deadline: deadline, earliest: earliest)
      child.dependency.awaited.insert(id)
    }
  }

  /// When a parent may be checked on behalf of its children.
  private static func nextQuestion(_ parent: ScheduleEntry, _ ledger: QuotaLedger, at now: Duration) -> Duration {
    let pause = max(Limits.dependencyPause, ledger.fastInterval(parent.definition, parent.account))
    return max(now, parent.dependency.askedAt.map { $0 + pause } ?? now)
  }

  /// When children stop to wait for a parent whose check runs.
  private static func deadline(_ parent: ScheduleEntry, at now: Duration) -> Duration {
    now + Limits.dependencyGrace + parent.definition.timeout * 2
  }

  /// Ends waits that took too long, and selects the parents to check now.
  ///
  /// - Returns: the parents, which run no check, and the number of children that waited too long.
  mutating func takeStarts(_ entries: Entries, at now: Duration, limit: Int) -> (
    parents: [ScheduleEntry], timeouts: Int
  ) {
    guard let wakeTime, wakeTime <= now else { return ([], 0) }
    var timeouts = 0
    for (parent, children) in questions.takeExpired(at: now) {
      for child in children {
        guard let entry = entries[child], entry.dependency.awaited.remove(parent) != nil else { continue }
        timeouts += 1
        questions.touch(child)
      }
    }
    let parents = questions.takeReady(at: now, limit: limit).compactMap { id -> ScheduleEntry? in
      guard let parent = entries[id] else { return nil }
      // Its running check began too early: another one follows it.
      if case .running = parent.activity { return nil }
      questions.begin(id, deadline: Self.deadline(parent, at: now))
      parent.dependency.askedAt = now
      questions.startCheck()
      return parent
    }
    return (parents, timeouts)
  }

  /// Counts the end of a check that ``takeStarts(_:at:limit:)`` has returned.
  mutating func finishCheck() { questions.finishCheck() }

  /// Answers the question for a parent as far as possible, and plans another check if that does not answer it.
  mutating func continueQuestion(_ id: String, _ entries: Entries, _ ledger: QuotaLedger, at now: Duration) {
    guard questions.isAsked(id) else { return }
    let parent = entries[id]
    // What is paused, without a route or removed is not asked.
    let isKnown = parent.map { $0.definition.isPaused || $0.route == .missing } ?? true
    let children = questions.answer(id) { since in isKnown || (parent?.lastBegun).map { $0 >= since } ?? false }
    for child in children {
      entries[child]?.dependency.awaited.remove(id)
      questions.touch(child)
    }
    guard let parent else { return }
    if case .running = parent.activity { return }
    questions.ask(id, again: Self.nextQuestion(parent, ledger, at: now))
  }
}
