/// Publishes an agent's events to the engine, each once and in order, whatever the engine loses: a pure state machine.
///
/// The messages form a chain: each names the stream sequence of the one before it, and the engine refuses it when that
/// is not the last. After a refusal, a timeout, a reconnect, and every minute without events, a handshake reads the
/// agent's last message from the stream: it decides what is published, not the acknowledgements.
public struct FleetAgentChain: Sendable {
  /// The agent's id.
  public let agent: String
  /// The identity of the store.
  public let epoch: String
  /// The time between two bases, with the agent's own jitter.
  let baseInterval: Duration

  var phase = Phase.disconnected
  /// The stream sequence of the last message; 0 when the stream has none.
  var after: UInt64 = 0
  /// ``AgentMessage/to`` of the last message.
  var published: UInt64 = 0
  /// The number after which the next message begins: ``published``, or a higher one when events are left out.
  var start: UInt64 = 0
  /// The number up to which the outbox has no other changes than published ones.
  var scanned: UInt64 = 0
  /// The highest number that any stream had.
  var ackedEver: UInt64
  /// The number of the store's last event.
  var last: UInt64
  var base = FleetBasePublishing.due
  var nextBase = Duration.zero
  var failures = 0
  var inFlight: AgentMessage?
  /// The changes of the next message; fewer after a rejection.
  var limit = FleetLimits.changesPerMessage
  /// Where the last complete base ends; nil before it, and in another stream.
  public internal(set) var completeBase: FleetEngineStreamPosition?
  /// When the present stream was created; nil before it is known.
  var created: Int64?
  var waiting: FleetWaitingEvents
  private var operations: UInt64 = 0
  /// Whether this process has published in the present stream.
  var hasPublished = false

  enum Phase: Hashable {
    case disconnected
    /// The handshake follows a failure.
    case waiting(until: Duration)
    /// A replica limits this agent: the same message is sent again.
    case paused(until: Duration)
    case performing(operation: UInt64)
    case idle(handshakeAt: Duration)
    case conflicted
  }

  /// Creates a chain that is not connected.
  ///
  /// - Parameters:
  ///   - agent: the agent's id.
  ///   - epoch: the identity of the store.
  ///   - last: the number of the store's last event.
  ///   - saved: what an earlier process saved; nil for none.
  ///   - baseInterval: the time between two bases, with the agent's own jitter.
  public init(
    agent: String, epoch: String, last: UInt64, saved: FleetAcknowledgement?,
    baseInterval: Duration = FleetLimits.baseInterval
  ) {
    self.agent = agent
    self.epoch = epoch
    self.last = last
    self.baseInterval = baseInterval
    waiting = FleetWaitingEvents(through: last)
    // A number beyond the store's end is of events that the store does not have, as in a damaged one.
    ackedEver = saved.map { $0.epoch == epoch ? min($0.ackedEver, last) : 0 } ?? 0
  }

  /// How many numbers of the store are not published.
  public var backlog: UInt64 { last - min(scanned, last) }

  /// The time since which the oldest event waits that is not published; nil when all are.
  public var oldestWaiting: Duration? { waiting.oldest(after: scanned) }

  /// Processes an input.
  ///
  /// - Parameters:
  ///   - input: what happened.
  ///   - now: the monotonic time.
  /// - Returns: what to do, in this order.
  public mutating func handle(_ input: Input, at now: Duration) -> [Effect] {
    if phase == .conflicted { return [] }
    switch input {
    case .connection(false):
      phase = .disconnected
      base.restart()
      return []
    case .connection(true):
      failures = 0
      return phase == .disconnected ? readLastMessage() : []
    case .appended(let number):
      last = max(last, number)
      waiting.append(number, at: now)
      return advanceIfIdle(at: now)
    case .baseRequested:
      base.request()
      return advanceIfIdle(at: now)
    case .baseRequestedAfter(let position):
      guard !hasBase(after: position) else { return [] }
      base.request()
      return advanceIfIdle(at: now)
    case .stream(let created):
      if self.created != created { completeBase = nil }
      self.created = created
      return []
    case .timer: return expire(at: now)
    case .completed(let outcome, let operation):
      guard phase == .performing(operation: operation) else { return [] }
      return complete(outcome, at: now)
    }
  }

  // MARK: - Steps

  private mutating func expire(at now: Duration) -> [Effect] {
    switch phase {
    case .waiting(let time): time <= now ? readLastMessage() : [.wake(at: time)]
    case .paused(let time): time <= now ? publishAgain() : [.wake(at: time)]
    case .idle(let time): time <= now ? readLastMessage() : advance(at: now)
    case .disconnected, .performing, .conflicted: []
    }
  }

  private mutating func complete(_ outcome: Outcome, at now: Duration) -> [Effect] {
    switch outcome {
    case .lastMessage(.success(let message)): return align(with: message, at: now)
    case .changes(.success(let page)): return publish(page, at: now)
    case .base(.success(let found)):
      base = .read(found, parts: FleetBasePublishing.parts(of: found))
      return advance(at: now)
    case .published(.success(let sequence)): return acknowledge(sequence, at: now)
    case .published(.failure(.slowDown(let wait))):
      phase = .paused(until: now + wait)
      return [.wake(at: now + wait)]
    case .lastMessage(.failure(.slowDown(let wait))):
      phase = .waiting(until: now + wait)
      return [.wake(at: now + wait)]
    case .published(.failure(.rejected(let reason))): return leaveOut(reason, at: now)
    case .published(.failure(.timedOut)), .lastMessage(.failure(.timedOut)):
      // The time limit was a wait; a longer one would add to the time that an election takes.
      failures = min(failures, 1)
      return retry(at: now)
    case .published(.failure), .lastMessage(.failure), .changes(.failure), .base(.failure):
      return retry(at: now)
    }
  }

  mutating func perform(_ action: Action) -> [Effect] {
    operations += 1
    phase = .performing(operation: operations)
    return [.perform(action, operation: operations)]
  }

  private mutating func readLastMessage() -> [Effect] { perform(.readLastMessage) }

  /// The handshake after a failure: the first immediately, the next ones later.
  mutating func retry(at now: Duration) -> [Effect] {
    base.restart()
    inFlight = nil
    failures += 1
    guard failures > 1 else { return readLastMessage() }
    let longest = failures > Self.electionAttempts ? Self.longestDelay : Self.electionDelay
    let delay = min(Self.firstDelay * (1 << min(failures - 2, 6)), longest)
    phase = .waiting(until: now + delay)
    return [.wake(at: now + delay)]
  }

  /// A leader change takes seconds; a refused publication by an own delayed message some milliseconds.
  static let firstDelay = Duration.milliseconds(100)
  static let electionDelay = Duration.seconds(1)
  /// After these the engine has no majority, which lasts longer.
  static let electionAttempts = 20
  static let longestDelay = Duration.seconds(5)
}
