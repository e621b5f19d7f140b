internal import ReachabilityModel

/// A question to one agent: to check targets now, and to answer with the results.
public struct FleetQuestion: Hashable, Sendable {
  /// The agent.
  public var agent: String
  /// The targets; at most ``FleetLimits/questionTargets``.
  public var targets: [String]
  /// When it was decided, by the replica's clock: answers to earlier questions do not count.
  public var begun: Duration
  /// How long the replica waits for the answer.
  public var timeLimit: Duration
}

/// The questions of a replica to the agents of targets, and what they have answered: a value that takes times.
///
/// An agent publishes changes only. What it answers counts as heard, and does not count as a vote: that arrives by the stream.
struct FleetQuestions: Sendable {
  /// What a question is for.
  enum Purpose {
    /// A target that another one depends on: does it still work?
    case parent
    /// A target whose dependencies work again: does it still fail?
    case child
  }

  /// What follows from the answers.
  enum Step: Hashable {
    /// The votes are what the agents see.
    case settled
    /// They may change; consider it again at this time, or after an answer.
    case wait(until: Duration)
  }

  private struct Question {
    var begun: Duration
    /// When the answers must have arrived.
    var deadline: Duration
    /// When the votes must have arrived that follow from the answers.
    var end: Duration
    /// The agents that have not answered.
    var asked: Set<String>
    var answers: [String: TargetState] = [:]
  }

  private var questions: [String: Question] = [:]
  private var outgoing: [String: [String]] = [:]
  private var second = Duration.zero
  private var count = 0

  // MARK: - Questions

  /// Whether the votes on a target are what its agents see, by checks that began after a time; asks them if necessary.
  mutating func step(_ id: String, _ purpose: Purpose, since: Duration, _ fold: FleetFold, at now: Duration) -> Step {
    if let question = questions[id], question.begun >= since {
      return Self.step(id, question, purpose, fold, at: now)
    }
    if now - second >= .seconds(1) {
      (second, count) = (now, 0)
      questions = questions.filter { now - $0.value.end < FleetLimits.dependencyWait }
    }
    if let last = questions[id]?.begun, now - last < FleetLimits.dependencyPause {
      return .wait(until: last + FleetLimits.dependencyPause)
    }
    guard count < FleetLimits.questionsPerSecond else { return .wait(until: second + .seconds(1)) }
    guard let target = fold.targets[id] else { return .settled }
    let agents = FleetRendezvousHash.order(target.assigned.filter { fold.nodes[$0]?.state == .present }, for: id)
      .prefix(FleetLimits.questionAgents)
    let times = Self.times(target.definition.spec, purpose)
    let question = Question(
      begun: now, deadline: now + times.answer, end: now + times.answer + times.votes, asked: Set(agents))
    questions[id] = question
    count += 1
    for agent in agents { outgoing[agent, default: []].append(id) }
    return Self.step(id, question, purpose, fold, at: now)
  }

  /// The questions to send since the last call.
  mutating func take(at now: Duration) -> [FleetQuestion] {
    defer { outgoing = [:] }
    return outgoing.sorted { $0.key < $1.key }.flatMap { agent, targets in
      stride(from: 0, to: targets.count, by: FleetLimits.questionTargets).map { start in
        let part = Array(targets[start..<min(start + FleetLimits.questionTargets, targets.count)])
        let deadline = part.compactMap { questions[$0]?.deadline }.max() ?? now
        return FleetQuestion(agent: agent, targets: part, begun: now, timeLimit: deadline - now)
      }
    }
  }

  /// An agent has answered; nil when it did not.
  mutating func answered(_ question: FleetQuestion, _ results: [FleetCheckResult]?) {
    let results = Dictionary((results ?? []).map { ($0.target, $0.seen) }) { first, _ in first }
    for id in question.targets where questions[id]?.begun == question.begun {
      guard questions[id]?.asked.remove(question.agent) != nil else { continue }
      questions[id]?.answers[question.agent] = results[id]
    }
  }

  // MARK: - Answers

  private static func step(
    _ id: String, _ question: Question, _ purpose: Purpose, _ fold: FleetFold, at now: Duration
  ) -> Step {
    let isOpen = now < question.deadline && !question.asked.isEmpty
    let contrary = question.answers.values.count { isContrary($0, purpose) }
    // The agents that are not heard: as most of those that are.
    let isExpected = isOpen || contrary * 2 >= question.answers.count && contrary > 0
    let assumed: TargetState? = isExpected ? (purpose == .parent ? .down : .up) : nil
    let decision = FleetJudgement.decision(of: id, in: fold) { agent, vote in
      if let answer = question.answers[agent] { return isContrary(answer, purpose) ? answer : vote }
      return vote == .up || vote == .down ? assumed ?? vote : vote
    }
    let isSettled =
      switch (purpose, decision?.verdict) {
      case (.parent, .down?), (.parent, .unreachable?): false
      case (.parent, _): true
      case (.child, let verdict): verdict == .down
      }
    if isSettled { return .settled }
    if isOpen { return .wait(until: question.deadline) }
    return now < question.end ? .wait(until: question.end) : .settled
  }

  /// Whether an answer may change the verdict.
  private static func isContrary(_ answer: TargetState, _ purpose: Purpose) -> Bool {
    switch purpose {
    case .parent: answer == .down || answer == .unreachable
    case .child: answer == .up
    }
  }

  /// How long the answers may take, and then the votes that follow from them: `fall` or `rise` checks at the fast interval.
  private static func times(_ spec: TargetSpec, _ purpose: Purpose) -> (answer: Duration, votes: Duration) {
    let interval = spec.interval ?? TargetDefinition.Default.interval
    let timeout = spec.timeout ?? min(TargetDefinition.Default.timeout, interval)
    let fast = spec.fastInterval ?? min(TargetDefinition.Default.fastInterval, interval)
    let results =
      switch purpose {
      case .parent: spec.fall ?? TargetDefinition.Default.fall
      case .child: spec.rise ?? TargetDefinition.Default.rise
      }
    let answer = min(FleetLimits.dependencyGrace + timeout * 2, FleetLimits.dependencyWait)
    let votes = FleetLimits.dependencyGrace + (fast + timeout) * (results - 1)
    return (answer, min(votes, FleetLimits.dependencyWait - answer))
  }

  /// The longest time that a question of a target can take.
  static func longest(_ id: String, _ purpose: Purpose, _ fold: FleetFold) -> Duration {
    guard let spec = fold.targets[id]?.definition.spec else { return .zero }
    let times = times(spec, purpose)
    return times.answer + times.votes
  }
}
