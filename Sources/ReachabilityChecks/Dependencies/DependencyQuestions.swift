/// The children that wait for results of their parents, and those to decide about: a value that takes times.
struct DependencyQuestions {
  /// One parent whose result children wait for.
  struct Question {
    /// By the id of the child, the time at which the parent's check must have begun at the earliest.
    var children: [String: Duration] = [:]
    /// When the children stop waiting.
    var deadline: Duration
    /// When those stop waiting that have joined while a check was running, which may have begun too early for them.
    var nextDeadline: Duration?
    /// When its check may begin; nil while one is about to begin, or runs.
    var earliest: Duration?
  }

  private var questions: [String: Question] = [:]
  /// The parents whose checks have not begun, in order.
  private var queue = IdentifierQueue()
  /// The number of running checks.
  private(set) var running = 0
  /// When ``takeExpired(at:)`` or ``takeReady(at:)`` may return something; nil for never.
  private(set) var wakeTime: Duration?
  /// The targets to decide about, in order.
  private var touched = IdentifierQueue()

  /// Whether there are targets to decide about.
  var hasTouched: Bool { !touched.isEmpty }

  // MARK: - Targets to decide about

  /// Whether a target is to be decided about.
  func isTouched(_ id: String) -> Bool { touched.contains(id) }

  /// Notes that a target is to be decided about.
  mutating func touch(_ id: String) { touched.append(id) }

  /// Removes and returns the next target to decide about.
  mutating func takeTouched() -> String? { touched.popFirst() }

  // MARK: - Questions

  /// The parents for whose results children wait.
  var parents: some Collection<String> { questions.keys }

  /// Whether children wait for a parent.
  func isAsked(_ parent: String) -> Bool { questions[parent] != nil }

  /// Whether a child waits for a parent.
  func isWaiting(_ child: String, for parent: String) -> Bool { questions[parent]?.children[child] != nil }

  /// Adds a child to the question for a parent.
  ///
  /// - Parameters:
  ///   - child: the child.
  ///   - since: the time at which the parent's check must have begun at the earliest.
  ///   - parent: the parent.
  ///   - deadline: when the child stops waiting, unless others wait for the same check.
  ///   - earliest: when a check of the parent may begin; nil while one runs that began late enough.
  mutating func add(
    _ child: String, since: Duration, to parent: String, deadline: Duration, earliest: Duration?
  ) {
    if questions[parent] == nil {
      questions[parent] = Question(deadline: deadline, earliest: earliest)
      if earliest != nil { queue.append(parent) }
      wake(at: min(deadline, earliest ?? deadline))
    } else if questions[parent]?.earliest == nil, questions[parent]?.nextDeadline == nil {
      questions[parent]?.nextDeadline = deadline
    }
    questions[parent]?.children[child] = since
  }

  /// Removes the children of a parent whose question is answered.
  ///
  /// - Parameters:
  ///   - parent: the parent.
  ///   - isAnswered: whether a check that must have begun at a time has a result.
  /// - Returns: the children.
  mutating func answer(_ parent: String, _ isAnswered: (Duration) -> Bool) -> [String] {
    guard var question = questions.removeValue(forKey: parent) else { return [] }
    let children = question.children.filter { isAnswered($0.value) }.map(\.key)
    for child in children { question.children[child] = nil }
    guard !question.children.isEmpty else { return children }
    // A result that answers none of them, such as an unknown one, does not prolong the wait.
    if !children.isEmpty, let next = question.nextDeadline {
      (question.deadline, question.nextDeadline) = (next, nil)
      wake(at: next)
    }
    questions[parent] = question
    return children
  }

  /// Notes that the check of a parent has ended, and that another one is needed.
  mutating func ask(_ parent: String, again earliest: Duration) {
    guard questions[parent] != nil, questions[parent]?.earliest == nil else { return }
    questions[parent]?.earliest = earliest
    queue.append(parent)
    wake(at: earliest)
  }

  /// Notes that a check of a parent begins.
  mutating func begin(_ parent: String, deadline: Duration) {
    guard let question = questions[parent] else { return }
    questions[parent]?.deadline = min(question.deadline, deadline)
    wake(at: min(question.deadline, deadline))
  }

  /// Counts a check of a parent.
  mutating func startCheck() { running += 1 }

  /// Counts the end of a check of a parent.
  mutating func finishCheck() {
    running -= 1
    if !queue.isEmpty { wake(at: .zero) }
  }

  /// Removes and returns what children have waited for too long.
  mutating func takeExpired(at now: Duration) -> [(parent: String, children: [String])] {
    let expired = questions.filter { $0.value.deadline <= now }
    for parent in expired.keys { questions[parent] = nil }
    return expired.map { ($0.key, Array($0.value.children.keys)) }
  }

  /// Removes and returns the parents to check now, at most as many as there are slots, and plans the next call.
  mutating func takeReady(at now: Duration, limit: Int) -> [String] {
    let slots = min(limit, Limits.dependencySlots - running)
    var (ready, next): ([String], Duration?) = ([], nil)
    for _ in 0..<queue.count {
      guard let parent = queue.popFirst(), let earliest = questions[parent]?.earliest else { continue }
      if earliest <= now, ready.count < slots {
        ready.append(parent)
        questions[parent]?.earliest = nil
      } else {
        queue.append(parent)
        // Without a free slot, the end of a check continues.
        if earliest > now || running + ready.count < Limits.dependencySlots { next = min(next ?? earliest, earliest) }
      }
    }
    wakeTime = next
    for question in questions.values { wake(at: question.deadline) }
    return ready
  }

  private mutating func wake(at time: Duration) { wakeTime = min(wakeTime ?? time, time) }
}
