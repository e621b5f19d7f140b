internal import ReachabilityModel

/// Finds what changes so often that the log must not have a line for each change: a value without clock and lock.
///
/// A subject flaps from its fifth change within ``quiet``, or from the change with which its target is flapping. It
/// stops flapping when nothing has changed for ``quiet`` and its target is not flapping.
struct RepeatedChanges {
  /// Changes within ``quiet`` that have lines of their own: an outage and its end, twice.
  static let ownLines = 4
  /// The period without a change that ends flapping.
  static let quiet = Duration.seconds(60)
  /// Subjects that are kept before those without a recent change are removed.
  static let sweepThreshold = 1_024

  /// What the log writes for a change.
  enum Decision: Equatable {
    /// A line for this change.
    case log
    /// A line that says that further changes are only counted.
    case begin
    /// No line.
    case count
  }

  /// A period of flapping that has ended.
  struct Ended: Equatable {
    var subject: Transition.Subject
    /// The changes since its beginning, the first ones included.
    var changes: Int
    /// From the first change to the last one.
    var duration: Duration
    var state: String
  }

  private struct History {
    var first: ContinuousClock.Instant
    var last: ContinuousClock.Instant
    var changes = 0
    var state = ""
    /// Whether the line that begins a period was written.
    var isRepeated = false
    /// Whether the status of the target says that it flaps.
    var isFlapping = false

    /// Whether nothing has changed for so long that the next change is the first one.
    func isOver(at now: ContinuousClock.Instant) -> Bool { !isFlapping && now - last >= RepeatedChanges.quiet }
  }

  private var histories: [Transition.Subject: History] = [:]
  private var repeatedCount = 0
  private var sweepAt = sweepThreshold

  /// Whether no subject flaps, so that ``takeEnded(at:)`` has nothing to return later.
  var isEmpty: Bool { repeatedCount == 0 }

  /// The number of subjects that are kept.
  var count: Int { histories.count }

  /// Records a change of `subject` to `state`; `isFlapping` is what the status of a target says.
  ///
  /// - Returns: what the log writes.
  mutating func record(
    _ subject: Transition.Subject, _ state: String, isFlapping: Bool, at now: ContinuousClock.Instant
  ) -> Decision {
    var history = histories[subject] ?? History(first: now, last: now)
    if !history.isRepeated, now - history.first >= Self.quiet { history = History(first: now, last: now) }
    history.changes += 1
    history.last = now
    history.state = state
    history.isFlapping = isFlapping
    defer { keep(history, of: subject, at: now) }
    if history.isRepeated { return .count }
    guard isFlapping || history.changes > Self.ownLines else { return .log }
    history.isRepeated = true
    repeatedCount += 1
    return .begin
  }

  /// Removes and returns the periods that have ended.
  mutating func takeEnded(at now: ContinuousClock.Instant) -> [Ended] {
    let over = histories.filter { $0.value.isRepeated && $0.value.isOver(at: now) }
    for subject in over.keys { histories[subject] = nil }
    repeatedCount -= over.count
    return over.map { subject, history in
      Ended(
        subject: subject, changes: history.changes, duration: history.last - history.first, state: history.state)
    }.sorted { ($0.subject.kind, $0.subject.name ?? "") < ($1.subject.kind, $1.subject.name ?? "") }
  }

  private mutating func keep(_ history: History, of subject: Transition.Subject, at now: ContinuousClock.Instant) {
    histories[subject] = history
    guard histories.count > sweepAt else { return }
    histories = histories.filter { $0.value.isRepeated || !$0.value.isOver(at: now) }
    sweepAt = max(Self.sweepThreshold, 2 * histories.count)
  }
}
