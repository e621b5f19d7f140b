/// Decides when a replica proposes a verdict: the first-ranked replica immediately, the next ones if they see none.
///
/// Proposals follow only from messages that concern votes, never from a verdict: replicas whose rules differ cannot
/// replace each other's verdicts for ever. The time is an input.
///
/// A verdict is not proposed while it depends on agents that may have fallen silent (ADR 61): the silence of some must not
/// leave a majority to the others before all of them are reported.
public struct FleetVerdictProposer: Sendable {
  /// The id of this replica.
  public let replica: String
  private var pending: [String: Pending] = [:]
  private var questions = FleetQuestions()
  /// Nothing is proposed before this time; nil while the fold is not complete.
  private var start: Duration?

  private struct Pending {
    var wanted: Wanted
    var time: Duration
    var attempts = 0
    /// Whether it waits until agents are heard or lost.
    var awaitsAgents = false
    /// Whether it waits for the targets on which it depends.
    var hold = FleetDependencyHold()
  }

  /// What has to be proposed.
  private struct Wanted: Hashable {
    var verdict: FleetVerdict
    var dependency: String?
  }

  /// Creates a proposer that waits for ``begin(at:)``.
  public init(replica: String) { self.replica = replica }

  /// The fold has read everything that the stream had; proposals begin at this time.
  public mutating func begin(at time: Duration) { start = time }

  /// The engine is not connected: nothing can be proposed.
  public mutating func suspend() { start = nil }

  /// The fold begins again.
  public mutating func reset() {
    start = nil
    pending = [:]
    questions = FleetQuestions()
  }

  /// When ``proposals(_:at:)`` has the next ones; nil for never.
  public var deadline: Duration? {
    guard let start, let first = pending.values.map(\.time).min() else { return nil }
    return max(start, first)
  }

  /// Considers targets whose votes or verdict have changed.
  public mutating func review(_ ids: [String], _ fold: FleetFold, at now: Duration) {
    guard !ids.isEmpty else { return }
    let replicas = fold.presentReplicas
    for id in ids { review(id, fold, among: replicas, at: now) }
  }

  private mutating func review(_ id: String, _ fold: FleetFold, among replicas: [String], at now: Duration) {
    guard let wanted = Self.wanted(id, fold) else {
      pending[id] = nil
      return
    }
    let accepted = fold.targets[id]?.verdict?.message.to ?? .unknown
    // A vote may be the one that it waits for.
    var held = pending[id]?.wanted == wanted && pending[id]?.awaitsAgents == false ? pending[id]?.time : nil
    if held == nil, accepted == .down, let other = pending[id], other.attempts == 0 {
      // Still not `down`: the hold goes on, whatever the verdict after it is.
      held = other.time
    }
    let hold = accepted == .down ? FleetLimits.downHold : .zero
    let delay = FleetLimits.proposalDelay * rank(id, among: replicas)
    let known = pending[id]?.wanted == wanted ? pending[id] : nil
    pending[id] = Pending(
      wanted: wanted, time: held ?? now + hold + delay, attempts: known?.attempts ?? 0,
      hold: known?.hold ?? FleetDependencyHold())
    // An answer may have been waited for that is a vote now.
    if known?.hold.begun != nil, known?.attempts == 0 { pending[id]?.time = now }
  }

  /// The proposals whose time has come.
  ///
  /// - Parameters:
  ///   - fold: the votes.
  ///   - silence: which agents may have fallen silent.
  ///   - now: the monotonic time.
  /// - Returns: the messages to publish.
  public mutating func proposals(
    _ fold: FleetFold, _ silence: FleetSilenceTracker, at now: Duration
  ) -> [VerdictMessage] {
    guard let start, start <= now else { return [] }
    var messages: [VerdictMessage] = []
    let replicas = pending.isEmpty ? [] : fold.presentReplicas
    let count = max(replicas.count, 1)
    for (id, waiting) in pending where waiting.time <= now {
      guard Self.wanted(id, fold) != nil,
        let message = message(id, fold, attempt: rank(id, among: replicas) + waiting.attempts * count)
      else {
        pending[id] = nil
        continue
      }
      pending[id]?.awaitsAgents = Self.dependsOnSilence(message, fold, silence, at: now)
      guard pending[id]?.awaitsAgents == false else {
        let delay = FleetLimits.proposalDelay * rank(id, among: replicas)
        pending[id]?.time = now + FleetLimits.silenceReview + delay
        continue
      }
      if message.to == .down, let time = waitForDependencies(id, fold, rank(id, among: replicas), at: now) {
        pending[id]?.time = max(time, now + FleetLimits.silenceReview)
        continue
      }
      messages.append(message)
      pending[id]?.attempts += 1
      pending[id]?.time = now + FleetLimits.proposalRepetition + FleetLimits.proposalDelay * count
    }
    return messages.sorted { $0.target < $1.target }
  }

  // MARK: - Dependencies

  private mutating func waitForDependencies(_ id: String, _ fold: FleetFold, _ rank: Int, at now: Duration) -> Duration?
  {
    guard var hold = pending[id]?.hold else { return nil }
    defer { pending[id]?.hold = hold }
    return hold.wait(id, rank: rank, fold, &questions, at: now)
  }

  /// The questions to agents that follow from ``proposals(_:_:at:)``.
  mutating func takeQuestions(at now: Duration) -> [FleetQuestion] { questions.take(at: now) }

  /// An agent has answered a question; nil when it did not.
  mutating func answered(_ question: FleetQuestion, _ results: [FleetCheckResult]?, at now: Duration) {
    questions.answered(question, results)
    for (id, waiting) in pending where waiting.hold.begun != nil && waiting.attempts == 0 { pending[id]?.time = now }
  }

  // MARK: - Silence

  /// Whether a verdict would be another one if the agents were silent of which nothing is heard: for `down`, after one
  /// period of heartbeats; for the others, when they are about to be reported, so that agents that fall silent together
  /// are one change.
  private static func dependsOnSilence(
    _ message: VerdictMessage, _ fold: FleetFold, _ silence: FleetSilenceTracker, at now: Duration
  ) -> Bool {
    // Both say that the target has failed.
    let isDown = message.to == .down || message.dependency != nil
    guard isDown || silence.hasEnding else { return false }
    let judgement = FleetJudgement(of: message.target, in: fold, after: message.from) { agent in
      isDown ? silence.isOverdue(agent, at: now) : silence.isEnding(agent)
    }
    return judgement?.verdict != message.to
  }

  /// The verdict that has to be proposed; nil when the accepted one is right, or is based on everything known.
  private static func wanted(_ id: String, _ fold: FleetFold) -> Wanted? {
    let accepted = fold.targets[id]?.verdict?.message
    guard let target = fold.targets[id], let judgement = FleetJudgement(of: id, in: fold, after: accepted?.to),
      target.changedAt > accepted?.basis ?? 0,
      judgement.verdict != accepted?.to ?? .unknown || isMove(judgement, accepted, id, fold)
    else { return nil }
    return Wanted(verdict: judgement.verdict, dependency: judgement.dependency)
  }

  /// Whether `unreachable` has another cause: a dependency, or none any longer, or a root that is further up.
  private static func isMove(
    _ judgement: FleetJudgement, _ accepted: VerdictMessage?, _ id: String, _ fold: FleetFold
  ) -> Bool {
    guard let accepted, judgement.verdict == .unreachable, accepted.to == .unreachable,
      judgement.dependency != accepted.dependency
    else { return false }
    guard let known = accepted.dependency, judgement.dependency != nil else { return true }
    // Not down: when an outage ends, each root on the way would be an event.
    return FleetJudgement.path(of: id, in: fold).contains(known) || fold.targets[known] == nil
  }

  private func message(_ id: String, _ fold: FleetFold, attempt: Int) -> VerdictMessage? {
    guard let target = fold.targets[id] else { return nil }
    let accepted = target.verdict
    guard let judgement = FleetJudgement(of: id, in: fold, after: accepted?.message.to) else { return nil }
    return VerdictMessage(
      target: id, stream: fold.created, from: accepted?.message.to, to: judgement.verdict, reason: judgement.reason,
      votes: judgement.decision.votes, downFrom: judgement.decision.downFrom, basis: target.changedAt,
      attempt: attempt, prev: accepted?.sequence ?? 0,
      held: accepted?.message.to == .down, by: replica, dependency: judgement.dependency)
  }

  private func rank(_ id: String, among replicas: [String]) -> Int {
    FleetRendezvousHash.rank(of: replica, among: replicas, for: id) ?? replicas.count
  }
}

extension FleetFold {
  /// The replicas that take part.
  public var presentReplicas: [String] {
    nodes.compactMap { $0.value.hello?.role == .replica && $0.value.state == .present ? $0.key : nil }
  }
}
