internal import ReachabilityModel

/// A target of the fleet as the stream describes it.
public struct FleetFoldedTarget: Sendable {
  /// What is checked, and how votes decide.
  public internal(set) var definition: FleetTarget
  /// Its version.
  public internal(set) var version: UInt64
  /// The stream sequence of the definition, or of its last restatement.
  var definitionSequence: UInt64
  /// When the engine stored it, in nanoseconds since 1970.
  public internal(set) var definitionTime: Int64
  /// The agents that check it, sorted.
  public private(set) var assigned: [String] = []
  /// What each of them says; nil before its first result.
  ///
  /// It follows from the cells of the agents, and is here so that a decision needs no lookup of them.
  private(set) var votes: [TargetState?] = []
  /// The agents that checked it before, until when their cells count in place of missing ones.
  var leaving: [String: Int64] = [:]
  /// The accepted verdict.
  public internal(set) var verdict: FleetAcceptedVerdict?
  /// The stream sequence of the last message that concerns its votes.
  public internal(set) var changedAt: UInt64
  /// When the engine stored that message, in nanoseconds since 1970.
  var changedTime: Int64

  /// Creates a target without agents, which the present message defines.
  init(_ definition: FleetTarget, version: UInt64, sequence: UInt64, time: Int64) {
    self.definition = definition
    self.version = version
    definitionSequence = sequence
    definitionTime = time
    changedAt = sequence
    changedTime = time
  }

  /// Replaces the agents, sorted; those that stay keep their votes.
  ///
  /// - Returns: those that do not stay.
  mutating func assign(_ agents: [String], _ vote: (String) -> TargetState?) -> [String] {
    var old = zip(assigned, votes).makeIterator()
    var next = old.next()
    var removed: [String] = []
    let merged = agents.map { agent -> TargetState? in
      while let (id, state) = next, id <= agent {
        next = old.next()
        if id == agent { return state }
        removed.append(id)
      }
      return vote(agent)
    }
    while let (id, _) = next {
      removed.append(id)
      next = old.next()
    }
    (assigned, votes) = (agents, merged)
    return removed
  }

  /// Whether an agent checks it.
  public func isAssigned(_ agent: String) -> Bool { place(of: agent) != nil }

  /// Whether the target's votes may include those of an agent.
  func hasVote(of agent: String) -> Bool { place(of: agent) != nil || leaving[agent] != nil }

  /// Replaces what an agent says.
  mutating func setVote(_ state: TargetState?, of agent: String) {
    if let place = place(of: agent) { votes[place] = state }
  }

  private func place(of agent: String) -> Int? {
    var low = 0
    var high = assigned.count
    while low < high {
      let middle = (low + high) / 2
      if assigned[middle] < agent { low = middle + 1 } else { high = middle }
    }
    return low < assigned.count && assigned[low] == agent ? low : nil
  }
}

/// A verdict that the readers have accepted.
public struct FleetAcceptedVerdict: Hashable, Sendable {
  /// The message.
  public var message: VerdictMessage
  /// Its stream sequence.
  public var sequence: UInt64
  /// When it became the verdict, in nanoseconds since 1970.
  public var since: Int64
  /// When the engine stored the message, in nanoseconds since 1970; later than ``since`` for a restatement.
  public var time: Int64
}
