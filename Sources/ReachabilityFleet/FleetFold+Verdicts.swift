internal import ReachabilityModel

extension FleetFold {
  /// Accepts or ignores a proposed verdict.
  mutating func apply(_ message: VerdictMessage) -> [FleetEvent.Content] {
    lastProposals[message.target] = LastProposal(sequence: sequence, time: time)
    // The stream has dropped the definition, and gets it again.
    let isUndefined = targets[message.target] == nil
    if isUndefined, deleted[message.target] != nil { return [] }
    let accepted = isUndefined ? undefinedVerdicts[message.target] : targets[message.target]?.verdict
    // A replica that has not noticed the loss of a stream may propose what followed from it.
    let isOfThisStream = message.stream == created && message.basis < sequence
    let isAccepted = isOfThisStream && accepts(message, accepted)
    if isAccepted {
      let verdict = FleetAcceptedVerdict(
        message: message, sequence: sequence, since: message.since.map(\.clampedNanoseconds) ?? time, time: time)
      if isUndefined {
        undefinedVerdicts[message.target] = verdict
      } else {
        targets[message.target]?.verdict = verdict
      }
    }
    if !isUndefined { changedTargets.insert(message.target) }
    return isAccepted && (message.from != message.to || message.isMove) ? [.verdict(message)] : []
  }

  /// Whether a proposal is the successor of the accepted verdict.
  ///
  /// Of proposals that were made at the same time, the first in the stream is it; the others name the same predecessor.
  private func accepts(_ message: VerdictMessage, _ accepted: FleetAcceptedVerdict?) -> Bool {
    guard let accepted else {
      // The first of a target; or the stream did not have its predecessors any longer when this fold read it.
      return message.prev == 0 || message.prev < complete
    }
    let last = accepted.message
    if message.prev != accepted.sequence {
      // Only a fold that has not read everything can have accepted a message that was refused: its successor shows that.
      return message.prev < complete && message.prev > last.prev
    }
    if message.from == message.to {
      return message.to == last.to && (!message.isMove || message.basis > last.basis)
    }
    return message.to != last.to && (message.basis, message.attempt) > (last.basis, last.attempt)
  }

  /// Applies a version of a target.
  mutating func apply(_ message: DefinitionMessage) -> [FleetEvent.Content] {
    let known = version(of: message.id)
    if message.version == known, let definition = message.definition, targets[message.id]?.definition == definition {
      targets[message.id]?.definitionSequence = sequence
      targets[message.id]?.definitionTime = time
    }
    let deletion = DeletedTarget(version: message.version, sequence: sequence, time: time)
    if message.version == known, message.definition == nil, deleted[message.id] != nil {
      deleted[message.id] = deletion
    }
    guard message.version > known else { return [] }
    // A version that a lost stream had is an event when this one has an earlier one; a fold that began later has none.
    let isEvent = !message.restates || known > 0
    let verdict = undefinedVerdicts.removeValue(forKey: message.id)
    rosterChanges.mark(targets[message.id]?.assigned ?? [])
    dependencies.set(message.id, from: targets[message.id]?.definition, to: message.definition)
    guard let definition = message.definition else {
      targets[message.id] = nil
      deleted[message.id] = deletion
      changedTargets.insert(message.id)
      return isEvent ? [.definition(message)] : []
    }
    deleted[message.id] = nil
    if targets[message.id] == nil {
      targets[message.id] = FleetFoldedTarget(definition, version: message.version, sequence: sequence, time: time)
      if message.restates { targets[message.id]?.verdict = verdict }
    }
    targets[message.id]?.definition = definition
    targets[message.id]?.version = message.version
    targets[message.id]?.definitionSequence = sequence
    targets[message.id]?.definitionTime = time
    assign(FleetAssignment.agents(for: message.id, definition.placement, among: candidates), to: message.id)
    rosterChanges.mark(targets[message.id]?.assigned ?? [])
    markChanged(message.id)
    return isEvent ? [.definition(message)] : []
  }
}
