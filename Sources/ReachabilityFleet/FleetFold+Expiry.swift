/// The deletion of a target.
public struct DeletedTarget: Hashable, Sendable {
  /// The version of the deletion.
  public var version: UInt64
  /// The stream sequence of its last restatement.
  var sequence: UInt64
  /// When the engine stored it, in nanoseconds since 1970.
  var time: Int64
}

/// The last message on the subject of a target's verdicts.
public struct LastProposal: Hashable, Sendable {
  /// Its stream sequence.
  public var sequence: UInt64
  /// When the engine stored it, in nanoseconds since 1970.
  var time: Int64
}

extension FleetFold {
  /// Discards what a fold that begins now cannot have, because its messages are too old for the stream.
  ///
  /// Otherwise folds that began at different times would assign targets to different agents, accept different versions of
  /// a target, and grow for ever.
  mutating func expire() {
    let oldest = time - FleetLimits.streamAge.nanoseconds
    deleted = deleted.filter { $0.value.time > oldest }
    if deleted.count > FleetLimits.deletedTargets {
      let latest = deleted.sorted { $0.value.sequence > $1.value.sequence }.prefix(FleetLimits.deletedTargets)
      deleted = Dictionary(uniqueKeysWithValues: latest.map { ($0.key, $0.value) })
    }
    undefinedVerdicts = undefinedVerdicts.filter { $0.value.time > oldest }
    lastProposals = lastProposals.filter { $0.value.time > oldest }
    let ended = time - FleetLimits.handOver.nanoseconds
    let hasLost = nodes.contains { $0.value.state == .lost && $0.value.since <= oldest }
    nodes = nodes.filter { _, node in
      switch node.state {
      case .present: true
      case .left: node.since > ended
      case .lost: node.since > oldest
      }
    }
    if hasLost { reassign() }
  }
}
