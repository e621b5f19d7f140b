internal import ReachabilityModel

/// The state of the fleet: a pure function of the messages of one stream in their order.
///
/// It has no clock and decides nothing: verdicts count because they are in the stream. Two replicas that fold the same
/// messages have the same state, and the same events with the same ids.
public struct FleetFold: Sendable {
  /// When the stream was created, in nanoseconds since 1970.
  public let created: Int64
  /// The epoch of the events' ids.
  public let epoch: UInt32
  /// The stream sequence of the first message; 0 before it.
  public private(set) var first: UInt64 = 0
  /// The stream sequence of the last message.
  public private(set) var sequence: UInt64 = 0
  /// When the engine stored the last message, in nanoseconds since 1970.
  public private(set) var time: Int64 = 0
  /// The agents and replicas.
  public internal(set) var nodes: [String: FleetFoldedNode] = [:]
  /// The targets.
  public internal(set) var targets: [String: FleetFoldedTarget] = [:]
  /// The deleted targets, as long as the stream has their deletion or a restatement of it; at most
  /// ``FleetLimits/deletedTargets``, except for the last minute.
  public internal(set) var deleted: [String: DeletedTarget] = [:]
  /// The last message on the subject of each target's verdicts, accepted or not, as long as the stream has it.
  public internal(set) var lastProposals: [String: LastProposal] = [:]
  /// The accepted verdicts of targets whose definitions the stream has dropped before this fold began.
  var undefinedVerdicts: [String: FleetAcceptedVerdict] = [:]
  /// The targets whose votes or verdicts have changed since ``takeChangedTargets()``.
  var changedTargets: Set<String> = []
  /// Which targets depend on which.
  public internal(set) var dependencies = FleetDependencies()
  /// The agents whose base is needed, because events of them are missing.
  var missingBases: Set<String> = []
  /// The agents for which what they check has changed.
  public internal(set) var rosterChanges = FleetRosterChanges()
  /// The stream sequence from which the fold has every message: the first one, or the one after a hole.
  public private(set) var complete: UInt64 = 0

  /// Creates the state before the first message of a stream.
  public init(created: Int64) {
    self.created = created
    epoch = FleetEventID.epoch(created: created)
  }

  /// The position after the last message.
  public var position: FleetEngineStreamPosition { FleetEngineStreamPosition(sequence: sequence, created: created) }

  /// Applies the next message of the stream.
  ///
  /// - Parameters:
  ///   - message: the message; nil for one that is not understood, which has no effect.
  ///   - sequence: its stream sequence.
  ///   - time: when the engine stored it, in nanoseconds since 1970.
  /// - Returns: the events that follow from it.
  public mutating func apply(_ message: FleetMessage?, sequence: UInt64, time: Int64) -> [FleetEvent] {
    if first == 0 { first = sequence }
    // The stream drops the oldest messages of a subject that has too many: they are missing between others.
    if sequence != self.sequence &+ 1 || complete == 0 { complete = sequence }
    let before = self.time
    self.sequence = sequence
    // The engine's server sets the time; sums with it must not overflow.
    let time = min(max(0, time), FleetLimits.latestTime)
    self.time = time
    // At the same message in every fold, whichever its first one was.
    let period = FleetLimits.expiryInterval.nanoseconds
    if time / period != before / period { expire() }
    let contents: [(index: UInt64, content: FleetEvent.Content)]
    switch message {
    case .agent(let message): contents = apply(message)
    case .node(let message): contents = apply(message).map { (0, $0) }
    case .verdict(let message): contents = apply(message).map { (0, $0) }
    case .definition(let message): contents = apply(message).map { (0, $0) }
    case nil: contents = []
    }
    FleetJudgement.markDependents(in: &self)
    return contents.map { index, content in
      let number = sequence &* FleetLimits.eventsPerMessage &+ index
      return FleetEvent(
        id: FleetEventID(epoch: epoch, number: number, check: content.check(time: time)), time: time, content: content)
    }
  }

  /// Whether ``takeChangedTargets()`` has some.
  var hasChangedTargets: Bool { !changedTargets.isEmpty }

  /// The targets whose verdict has to be reviewed; each once.
  public mutating func takeChangedTargets() -> [String] {
    defer { changedTargets = [] }
    return changedTargets.sorted()
  }

  // MARK: - Votes

  /// The verdict that follows from the votes after the last message that concerns them; nil for an unknown target.
  public func decision(for id: String) -> FleetQuorumRules.Decision? {
    targets[id].map { FleetQuorumRules.decide($0.definition.quorum, votes(on: id, $0)) }
  }

  /// The votes of the assigned agents; in place of missing ones, those of agents that checked the target before.
  func votes(on id: String, _ target: FleetFoldedTarget) -> [FleetQuorumRules.Vote] {
    var leaving = target.leaving.filter { $0.value > target.changedTime }.keys.sorted()[...]
    return zip(target.assigned, target.votes).map { agent, state in
      guard state == nil else { return vote(of: agent, state) }
      while let old = leaving.popFirst() {
        if let cell = nodes[old]?.vote(id) { return vote(of: old, cell.state) }
      }
      return vote(of: agent, nil)
    }
  }

  func vote(of agent: String, _ state: TargetState?) -> FleetQuorumRules.Vote {
    // The other zones do not matter, and are many.
    FleetQuorumRules.Vote(agent: agent, zone: state == .down ? nodes[agent]?.hello?.zone ?? "" : "", state: state)
  }

  /// Notes that the present message concerns the vote of an agent on a target.
  mutating func markVote(_ state: TargetState?, of agent: String, on id: String) {
    guard let place = targets.index(forKey: id) else { return }
    targets.values[place].setVote(state, of: agent)
    markChanged(id)
  }

  /// Notes that the present message concerns a target's votes.
  mutating func markChanged(_ id: String) {
    guard let place = targets.index(forKey: id) else { return }
    targets.values[place].changedAt = sequence
    targets.values[place].changedTime = time
    changedTargets.insert(id)
    dependencies.touch(id)
  }
}
