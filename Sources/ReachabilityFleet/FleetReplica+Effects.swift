internal import ReachabilityModel

extension FleetReplica {
  /// Messages of one check, so that a fleet that began at one time does not delay anything.
  static let restatementsPerCheck = 100

  /// Requests the state of the stream.
  mutating func readStreamState() -> Effect {
    sequenceAtRequest = tail.sequence
    return .readStreamState
  }

  /// The reports of the nodes that are lost.
  mutating func reportLost(at now: Duration) -> [Effect] {
    silence.lost(fold, at: now, excluding: id).map { .publish(.node($0), expecting: nil) }
  }

  /// The `hello` of this replica, when the stream does not have it.
  func greet() -> [Effect] {
    let own = fold.nodes[id]
    let isKnown = own?.state == .present && own?.hello == attributes
    let isOld = fold.time - (own?.helloTime ?? 0) > FleetLimits.restatementAge.nanoseconds
    guard !isKnown || isOld else { return [] }
    return [.publish(.node(NodeMessage(id: id, .hello(attributes, restates: isKnown))), expecting: nil)]
  }

  /// Publishes definitions and verdicts again before the stream drops them; the first-ranked replica does.
  func restatements() -> [Effect] {
    let oldest = fold.time - FleetLimits.restatementAge.nanoseconds
    var effects: [Effect] = []
    for (id, target) in fold.targets {
      guard effects.count < Self.restatementsPerCheck else { break }
      let isOld = target.definitionTime < oldest
      let verdict = target.verdict.flatMap { $0.time < oldest ? $0 : nil }
      guard isOld || verdict != nil, Rendezvous.rank(of: self.id, among: fold.presentReplicas, for: id) == 0 else {
        continue
      }
      if isOld {
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
            expecting: ExpectedLast(after: fold.lastProposals[id] ?? 0)))
      }
    }
    return effects
  }

  /// Publishes the definitions and verdicts that only the lost stream had: an empty stream deletes nothing.
  func restatements(of lost: FleetFold) -> [Effect] {
    var effects: [Effect] = []
    for (id, target) in lost.targets.sorted(by: { $0.key < $1.key }) {
      // An older copy of the stream may have an older version.
      let known = fold.targets[id]?.version ?? fold.deleted[id]
      guard known ?? 0 < target.version else { continue }
      let message = DefinitionMessage(
        id: id, version: target.version, definition: target.definition, restates: true)
      effects.append(.publish(.definition(message), expecting: known == nil ? ExpectedLast.none : nil))
      if known == nil, let verdict = target.verdict {
        effects.append(
          .publish(
            .verdict(verdict.restatement(prev: 0, basis: 0, in: fold, by: self.id)), expecting: ExpectedLast.none))
      }
    }
    for (id, version) in lost.deleted.sorted(by: { $0.key < $1.key }) where fold.deleted[id] == nil {
      guard fold.targets[id]?.version ?? 0 < version else { continue }
      effects.append(
        .publish(
          .definition(DefinitionMessage(id: id, version: version, definition: nil, restates: true)), expecting: nil))
    }
    return effects
  }
}

extension AcceptedVerdict {
  /// The message that restates the verdict.
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
