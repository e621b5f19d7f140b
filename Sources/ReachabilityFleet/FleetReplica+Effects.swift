internal import ReachabilityModel

extension FleetReplica {
  /// The time between two comparisons of the stream with the fold: a consumer beyond the end of a rebuilt stream waits
  /// for ever, and that of a stream without a leader, too.
  static let checkInterval = Duration.seconds(2)
  /// The time between two restatements of what the stream drops before long.
  static let restatementInterval = Duration.seconds(10)
  /// The pause before an interrupted consumption begins again: an engine that refuses it must not be asked in a loop.
  static let interruptionPause = Duration.seconds(1)
  /// The time between two considerations of silence.
  static let roundInterval = Duration.seconds(1)
  /// The time between two reviews while the stream has more messages: votes that change together are counted once.
  static let reviewPause = Duration.milliseconds(200)
  /// A pause of the process after which a node without messages is not silent.
  static let stall = Duration.seconds(3)

  /// Messages of one check, so that a fleet that began at one time does not delay anything.
  static let restatementsPerCheck = 100
  /// Messages of one round after the loss of a stream, which must not wait in the engine's queue until the next one.
  static let restatementsPerRound = 500

  /// Whether a message has to be published again: it is old, or the stream drops it before long.
  ///
  /// - Parameters:
  ///   - sequence: its stream sequence.
  ///   - time: when the engine stored it, in nanoseconds since 1970.
  /// - Returns: whether to publish it again.
  public func dropsSoon(_ sequence: UInt64, at time: Int64) -> Bool {
    fold.time - time > FleetLimits.restatementAge.nanoseconds || stream.dropsSoon(sequence)
  }

  var readStreamState: Effect { .readStreamState(since: tail.sequence) }

  /// What the last message on the subject of a target's verdicts must be: none when the stream has dropped it.
  func lastVerdict(of target: String) -> FleetEngineExpectedLast {
    let sequence = fold.lastProposals[target]?.sequence ?? 0
    return FleetEngineExpectedLast(after: sequence < stream.first ? 0 : sequence)
  }

  mutating func reportLost(at now: Duration) -> [Effect] {
    silence.lost(fold, at: now, excluding: id).map { .publish(.node($0), expecting: nil) }
  }

  /// The requests to check targets now that an agent suspects; none while this replica may not know who is present.
  mutating func requestChecks(of targets: [String], suspectedBy agent: String, at now: Duration) -> [Effect] {
    guard isComplete, isConnected else { return [] }
    return checkRequests.requests(about: targets, of: agent, fold, by: id, at: now).map {
      .requestChecks(agent: $0.agent, targets: $0.targets)
    }
  }

  /// The `hello` of this replica, when the stream does not have it.
  func greet() -> [Effect] {
    let own = fold.nodes[id]
    let isKnown = own?.state == .present && own?.hello == attributes
    let isOld =
      fold.time - (own?.helloTime ?? 0) > FleetLimits.restatementAge.nanoseconds
      || stream.dropsSoon(own?.helloSequence ?? 0)
    guard !isKnown || isOld else { return [] }
    return [.publish(.node(NodeMessage(id: id, .hello(attributes, restates: isKnown))), expecting: nil)]
  }

  /// Publishes definitions, deletions and verdicts again before the stream drops them; the first-ranked replica does, and
  /// the next ones later: a replica that began after the loss of a definition does not know it.
  ///
  /// A replica that was away for longer than the stream's age may have a target that was deleted since. It would restate
  /// the definition if the stream did not have the deletion.
  func restatements() -> [Effect] {
    let replicas = fold.presentReplicas
    var effects: [Effect] = []
    for (id, deletion) in fold.deleted {
      guard effects.count < Self.restatementsPerCheck else { break }
      guard isOld(deletion.sequence, deletion.time, of: id, among: replicas) else { continue }
      let message = DefinitionMessage(id: id, version: deletion.version, definition: nil, restates: true)
      effects.append(.publish(.definition(message), expecting: nil))
    }
    for (id, target) in fold.targets {
      guard effects.count < Self.restatementsPerCheck else { break }
      let verdict = target.verdict.flatMap { verdict in
        isOld(verdict.sequence, verdict.time, of: id, among: replicas) ? verdict : nil
      }
      if isOld(target.definitionSequence, target.definitionTime, of: id, among: replicas) {
        effects.append(
          .publish(
            .definition(
              DefinitionMessage(id: id, version: target.version, definition: target.definition, restates: true)),
            expecting: nil))
      }
      if let verdict {
        effects.append(
          .publish(
            .verdict(verdict.restatement(prev: verdict.sequence, basis: verdict.message.basis, in: fold, by: self.id)),
            expecting: lastVerdict(of: id)))
      }
    }
    return effects
  }

  /// Whether the stream drops a message of a target before long, and this replica is the one that publishes it again.
  private func isOld(_ sequence: UInt64, _ time: Int64, of target: String, among replicas: [String]) -> Bool {
    // Most messages are not, for any replica.
    let latest = fold.time - FleetLimits.restatementAge.nanoseconds
    guard time < latest || stream.dropsSoon(sequence) else { return false }
    let rank = FleetRendezvousHash.rank(of: id, among: replicas, for: target) ?? replicas.count
    return time < latest - (FleetLimits.restatementDelay * rank).nanoseconds || stream.dropsSoon(sequence, rank: rank)
  }

  /// Publishes what the lost stream had, again until the present one has it: a publication may fail in an election.
  mutating func restateLost() -> [Effect] {
    let effects = lostFold.map { restatements(of: $0) } ?? []
    if effects.isEmpty { lostFold = nil }
    return effects
  }

  /// Publishes the definitions and verdicts that only the lost stream had: an empty stream deletes nothing.
  func restatements(of lost: FleetFold) -> [Effect] {
    var effects: [Effect] = []
    for (id, target) in lost.targets.sorted(by: { $0.key < $1.key }) {
      guard effects.count < Self.restatementsPerRound else { return effects }
      // An older copy of the stream may have an older version.
      let known = fold.targets[id]?.version ?? fold.deleted[id]?.version
      guard known ?? 0 < target.version else { continue }
      let message = DefinitionMessage(
        id: id, version: target.version, definition: target.definition, restates: true)
      effects.append(.publish(.definition(message), expecting: known == nil ? FleetEngineExpectedLast.none : nil))
      if known == nil, let verdict = target.verdict {
        effects.append(
          .publish(
            .verdict(verdict.restatement(prev: 0, basis: 0, in: fold, by: self.id)),
            expecting: FleetEngineExpectedLast.none))
      }
    }
    for (id, deletion) in lost.deleted.sorted(by: { $0.key < $1.key }) where fold.deleted[id] == nil {
      guard effects.count < Self.restatementsPerRound else { return effects }
      let version = deletion.version
      guard fold.targets[id]?.version ?? 0 < version else { continue }
      effects.append(
        .publish(
          .definition(DefinitionMessage(id: id, version: version, definition: nil, restates: true)), expecting: nil))
    }
    return effects
  }
}

extension FleetFold {
  /// What was lost with the stream of this fold, and with the streams before it that were not restated.
  func merged(intoLost earlier: FleetFold?) -> FleetFold {
    guard var lost = earlier else { return self }
    for (id, target) in targets where target.version > lost.version(of: id) {
      lost.targets[id] = target
      lost.deleted[id] = nil
    }
    for (id, deletion) in deleted where deletion.version > lost.version(of: id) {
      lost.targets[id] = nil
      lost.deleted[id] = deletion
    }
    return lost
  }

  /// The last version of a target or of its deletion; 0 for neither.
  public func version(of target: String) -> UInt64 { targets[target]?.version ?? deleted[target]?.version ?? 0 }
}

extension FleetAcceptedVerdict {
  func restatement(prev: UInt64, basis: UInt64, in fold: FleetFold, by replica: String) -> VerdictMessage {
    var copy = message
    copy.stream = fold.created
    copy.from = message.to
    copy.prev = prev
    copy.basis = basis
    copy.by = replica
    copy.since = Timestamp(microseconds: since / 1000)
    return copy
  }
}
