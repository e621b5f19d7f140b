/// A replica, as a pure state machine: it folds the stream, reports silent agents and proposes verdicts.
public struct FleetReplica: Sendable {
  /// The id of this replica.
  public let id: String
  /// The state of the fleet.
  public internal(set) var fold = FleetFold(created: 0)
  /// Whether the fold has everything that the stream has.
  public private(set) var isComplete = false
  /// Whether the engine is connected.
  public internal(set) var isConnected = false
  /// Whether the fold is a state of the fleet: everything that its stream had was read once, and the stream is the same.
  public private(set) var hasState = false
  /// What was last known of the stream.
  public private(set) var contact = FleetStreamContact()
  /// What was received of the nodes.
  public internal(set) var silence = FleetSilenceTracker()
  let attributes: NodeHello
  private(set) var tail = FleetStreamTail()
  private var proposer: FleetVerdictProposer
  private var isConsuming = false
  /// The state of the stream when it was read last.
  private(set) var stream = FleetEngineStreamState(created: 0, first: 1, last: 0)
  /// What the fold before a lost stream had, until the present stream has it.
  var lostFold: FleetFold?
  /// The bases that it has requested.
  var baseRequests = FleetBaseRequests()
  /// When everything that the stream had was folded; nil until then.
  var completion: Duration?
  /// When agents may receive lists of what they check: hellos and definitions of a lost stream are published again before.
  var rosterStart = Duration.zero
  /// What it has asked agents to check.
  var checkRequests = FleetCheckRequests()
  var nextCheck = Duration.zero
  private var nextRestatement = Duration.zero
  private var nextRound = Duration.zero
  private var nextReview = Duration.zero
  private var lastInput = Duration.zero

  /// Creates a replica that is not connected.
  ///
  /// - Parameters:
  ///   - id: its id.
  ///   - attributes: what its `hello` contains.
  public init(id: String, attributes: NodeHello) {
    self.id = id
    self.attributes = attributes
    proposer = FleetVerdictProposer(replica: id)
  }

  /// Processes an input.
  ///
  /// - Parameters:
  ///   - input: what happened.
  ///   - now: the monotonic time.
  /// - Returns: what to do, in this order.
  public mutating func handle(_ input: Input, at now: Duration) -> [Effect] {
    if now - lastInput > Self.stall, isComplete { silence.begin(at: now) }
    lastInput = now
    switch input {
    case .connection(let isConnected): return connect(isConnected, at: now)
    case .streamState(let state, let sequence): return compare(state, since: sequence, at: now) + [wake]
    case .message(let message, let stored, let pending): return take(message, stored, pending, at: now)
    case .interrupted: return interrupt(at: now)
    case .heartbeats(let times): return receive(times)
    case .suspected(let targets, let agent): return requestChecks(of: targets, suspectedBy: agent, at: now)
    case .absent(let agent): return noteAbsence(of: agent, at: now)
    case .answered(let question, let results):
      proposer.answered(question, results, at: now)
      return isComplete ? review(at: now) + [wake] : []
    case .timer: return expire(at: now)
    }
  }

  // MARK: - The stream

  /// Stops reading: until everything is read again, this replica decides nothing and denies no id of a subscriber.
  mutating func suspend() {
    completion = nil
    isConsuming = false
    isComplete = false
    silence.suspend()
    proposer.suspend()
  }

  private mutating func compare(_ state: FleetEngineStreamState?, since requested: UInt64, at now: Duration) -> [Effect]
  {
    guard isConnected else { return [] }
    guard let state else {
      // During an election the servers do not respond.
      if !isConsuming { nextCheck = min(nextCheck, now + Self.interruptionPause) }
      return []
    }
    var effects: [Effect] = []
    if state.created != fold.created || tail.isBeyond(state, requestedAt: requested) {
      effects += restart(created: state.created)
    }
    stream = state
    contact.answered(state, folded: fold.sequence, at: now)
    if !isConsuming {
      isConsuming = true
      effects.append(.consume(from: max(tail.start, state.first > tail.sequence ? state.first : 0)))
    }
    // Otherwise the last message is delivered, again if it was folded: is it the same one?
    if state.first > state.last { effects += complete(at: now) }
    return effects
  }

  /// Begins the fold again, because the stream is another one.
  private mutating func restart(created: Int64) -> [Effect] {
    let isFirst = fold.created == 0
    if !isFirst { lostFold = fold.merged(intoLost: lostFold) }
    fold = FleetFold(created: created)
    tail = FleetStreamTail()
    isConsuming = false
    isComplete = false
    (completion, hasState) = (nil, false)
    proposer.reset()
    silence.suspend()
    return isFirst ? [] : [.restarted]
  }

  private mutating func take(
    _ message: FleetMessage?, _ stored: FleetEngineStoredMessage, _ pending: UInt64, at now: Duration
  ) -> [Effect] {
    guard isConsuming else { return [] }
    contact.delivered(pending: pending, at: now)
    switch tail.take(stored) {
    case .known: return pending == 0 ? complete(at: now) + [wake] : []
    case .fork: return restart(created: fold.created) + [readStreamState]
    case .next: break
    }
    if isComplete, let node = message?.resumed, fold.nodes[node]?.state == .lost { silence.returned(node, at: now) }
    var effects = apply(message, stored)
    if let sender = message?.sender { silence.received(sender, at: now) }
    if pending == 0 { effects += complete(at: now) }
    guard isComplete else { return effects }
    if pending == 0 || nextReview <= now { effects += review(at: now) }
    return effects + [wake]
  }

  /// Everything that the stream had is folded.
  private mutating func complete(at now: Duration) -> [Effect] {
    guard !isComplete, isConnected else { return [] }
    isComplete = true
    hasState = true
    silence.begin(at: now)
    // Votes of agents whose base the stream does not have are missing.
    let missing = FleetBaseRequests.awaited(fold)
    let start = lostFold == nil && missing.isEmpty ? now : now + FleetLimits.foldGrace
    proposer.begin(at: start)
    completion = now
    rosterStart = start
    baseRequests.begin(fold, at: now)
    nextRound = now + Self.roundInterval
    return restateLost() + greet() + requestBases(at: now) + review(at: now)
  }

  /// Reviews what has changed, and publishes what is due.
  private mutating func review(at now: Duration) -> [Effect] {
    nextReview = now + Self.reviewPause
    proposer.review(fold.takeChangedTargets(), fold, at: now)
    var effects: [Effect] = []
    for message in proposer.proposals(fold, silence, at: now) {
      effects.append(.publish(.verdict(message), expecting: lastVerdict(of: message.target)))
    }
    return effects + proposer.takeQuestions(at: now).map(Effect.question)
  }

  private mutating func expire(at now: Duration) -> [Effect] {
    guard isConnected else { return [] }
    var effects: [Effect] = []
    if nextCheck <= now {
      nextCheck = now + Self.checkInterval
      effects.append(readStreamState)
      if isComplete, nextRestatement <= now {
        nextRestatement = now + Self.restatementInterval
        effects += restatements()
      }
    }
    if isComplete {
      if nextRound <= now {
        nextRound = now + Self.roundInterval
        effects += restateLost() + greet() + requestBases(at: now)
        effects += reportLost(at: now)
        effects += silence.doubtful(fold, at: now, replica: id).map(Effect.ask)
      }
      effects += review(at: now)
    }
    return effects + [wake]
  }

  var wake: Effect {
    guard isComplete else { return .wake(at: nextCheck) }
    let review = fold.hasChangedTargets ? nextReview : nextCheck
    return .wake(at: min(nextCheck, nextRound, review, proposer.deadline ?? nextCheck))
  }
}
