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
  /// Nothing is proposed before this time; nil while the fold is not complete.
  private var start: Duration?

  private struct Pending {
    var verdict: FleetVerdict
    var time: Duration
    var attempts = 0
    /// Whether it waits until agents are heard or lost.
    var awaitsAgents = false
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
    var held = pending[id]?.verdict == wanted && pending[id]?.awaitsAgents == false ? pending[id]?.time : nil
    if held == nil, accepted == .down, let other = pending[id], other.attempts == 0 {
      // Still not `down`: the hold goes on, whatever the verdict after it is.
      held = other.time
    }
    let hold = accepted == .down ? FleetLimits.downHold : .zero
    let delay = FleetLimits.proposalDelay * rank(id, among: replicas)
    let attempts = pending[id]?.verdict == wanted ? pending[id]?.attempts ?? 0 : 0
    pending[id] = Pending(verdict: wanted, time: held ?? now + hold + delay, attempts: attempts)
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
      pending[id]?.awaitsAgents = Self.dependsOnSilence(message.to, id, fold, silence, at: now)
      guard pending[id]?.awaitsAgents == false else {
        let delay = FleetLimits.proposalDelay * rank(id, among: replicas)
        pending[id]?.time = now + FleetLimits.silenceReview + delay
        continue
      }
      messages.append(message)
      pending[id]?.attempts += 1
      pending[id]?.time = now + FleetLimits.proposalRepetition + FleetLimits.proposalDelay * count
    }
    return messages.sorted { $0.target < $1.target }
  }

  /// Whether a verdict would be another one if the agents were silent of which nothing is heard: for `down`, after one
  /// period of heartbeats; for the others, when they are about to be reported, so that agents that fall silent together
  /// are one change.
  private static func dependsOnSilence(
    _ verdict: FleetVerdict, _ id: String, _ fold: FleetFold, _ silence: FleetSilenceTracker, at now: Duration
  ) -> Bool {
    guard verdict == .down || silence.hasEnding else { return false }
    let decision = fold.decision(for: id) { agent in
      verdict == .down ? silence.isOverdue(agent, at: now) : silence.isEnding(agent)
    }
    return decision?.verdict != verdict
  }

  /// The verdict that has to be proposed; nil when the accepted one is right, or is based on everything known.
  private static func wanted(_ id: String, _ fold: FleetFold) -> FleetVerdict? {
    guard let target = fold.targets[id], let decision = fold.decision(for: id) else { return nil }
    let accepted = target.verdict?.message
    guard target.changedAt > accepted?.basis ?? 0, decision.verdict != accepted?.to ?? .unknown else { return nil }
    return decision.verdict
  }

  private func message(_ id: String, _ fold: FleetFold, attempt: Int) -> VerdictMessage? {
    guard let target = fold.targets[id], let decision = fold.decision(for: id) else { return nil }
    let accepted = target.verdict
    return VerdictMessage(
      target: id, stream: fold.created, from: accepted?.message.to, to: decision.verdict, reason: decision.reason,
      votes: decision.votes, downFrom: decision.downFrom, basis: target.changedAt,
      attempt: attempt, prev: accepted?.sequence ?? 0,
      held: accepted?.message.to == .down, by: replica)
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
