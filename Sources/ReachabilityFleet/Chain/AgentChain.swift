/// Publishes an agent's events to the engine, each once and in order, whatever the engine loses: a pure state machine.
///
/// The messages form a chain: each names the stream sequence of the one before it, and the engine refuses it when that
/// is not the last. After a refusal, a timeout, a reconnect, and every minute without events, a handshake reads the
/// agent's last message from the stream: it decides what is published, not the acknowledgements.
public struct AgentChain: Sendable {
  /// The agent's id.
  public let agent: String
  /// The identity of the store.
  public let epoch: String
  /// The time between two bases, with the agent's own jitter.
  private let baseInterval: Duration

  private var phase = Phase.disconnected
  /// The stream sequence of the last message; 0 when the stream has none.
  private var after: UInt64 = 0
  /// ``AgentMessage/to`` of the last message.
  private var published: UInt64 = 0
  /// The number after which the next message begins: ``published``, or a higher one when events are left out.
  private var start: UInt64 = 0
  /// The number up to which the outbox has no other changes than published ones.
  private var scanned: UInt64 = 0
  /// The highest number that any stream had.
  private var ackedEver: UInt64
  /// The number of the store's last event.
  private var last: UInt64
  private var base = BaseState.due
  private var nextBase = Duration.zero
  private var failures = 0
  private var operations: UInt64 = 0
  /// Whether this process has published in the present stream.
  private var hasPublished = false

  private enum Phase: Hashable {
    case disconnected
    /// The handshake follows a failure.
    case waiting(until: Duration)
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
    agent: String, epoch: String, last: UInt64, saved: Acknowledgement?,
    baseInterval: Duration = FleetLimits.baseInterval
  ) {
    self.agent = agent
    self.epoch = epoch
    self.last = last
    self.baseInterval = baseInterval
    ackedEver = saved.map { $0.epoch == epoch ? $0.ackedEver : 0 } ?? 0
  }

  /// How many numbers of the store are not published.
  public var backlog: UInt64 { last - min(scanned, last) }

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
      return advanceIfIdle(at: now)
    case .baseRequested:
      base.request()
      return advanceIfIdle(at: now)
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
    case .idle(let time): time <= now ? readLastMessage() : advance(at: now)
    case .disconnected, .performing, .conflicted: []
    }
  }

  private mutating func complete(_ outcome: Outcome, at now: Duration) -> [Effect] {
    switch outcome {
    case .lastMessage(.success(let message)): return align(with: message, at: now)
    case .changes(.success(let page)): return publish(page, at: now)
    case .base(.success(let found)):
      base = .read(found, parts: BaseState.parts(of: found))
      return advance(at: now)
    case .published(.success(let sequence)): return acknowledge(sequence, at: now)
    case .published(.failure), .lastMessage(.failure), .changes(.failure), .base(.failure):
      return retry(at: now)
    }
  }

  private mutating func perform(_ action: Action) -> [Effect] {
    operations += 1
    phase = .performing(operation: operations)
    return [.perform(action, operation: operations)]
  }

  private mutating func readLastMessage() -> [Effect] { perform(.readLastMessage) }

  /// The handshake after a failure: the first immediately, the next ones later.
  private mutating func retry(at now: Duration) -> [Effect] {
    base.restart()
    inFlight = nil
    failures += 1
    guard failures > 1 else { return readLastMessage() }
    let delay = min(Self.firstDelay * (1 << min(failures - 2, 6)), Self.longestDelay)
    phase = .waiting(until: now + delay)
    return [.wake(at: now + delay)]
  }

  /// A leader change takes seconds; a refused publication by an own delayed message some milliseconds.
  static let firstDelay = Duration.milliseconds(100)
  static let longestDelay = Duration.seconds(5)

  // MARK: - Handshake

  private mutating func align(with message: OwnMessage?, at now: Duration) -> [Effect] {
    if let message, message.epoch != epoch, hasPublished, message.sequence > after {
      phase = .conflicted
      return [.conflict(epoch: message.epoch)]
    }
    // Numbers beyond the store's end are of events that the store does not have: they are another history.
    let own = message.flatMap { $0.epoch == epoch && $0.to <= last ? $0 : nil }
    if own.map({ $0.to < published }) ?? true { base.request() }
    if own == nil { hasPublished = false }
    after = message?.sequence ?? 0
    let known = own?.to ?? 0
    if known != published || own == nil {
      published = known
      // A stream that lost events gets the latest of them again.
      let repeated = UInt64(FleetLimits.repeatedEvents)
      scanned = max(known, ackedEver > repeated ? ackedEver - repeated : 0)
      start = scanned
    }
    ackedEver = max(ackedEver, known)
    return [.save(acknowledgement)] + advance(at: now)
  }

  private var acknowledgement: Acknowledgement { Acknowledgement(epoch: epoch, acked: scanned, ackedEver: ackedEver) }

  // MARK: - Publishing

  private var inFlight: AgentMessage?

  private mutating func advanceIfIdle(at now: Duration) -> [Effect] {
    guard case .idle = phase else { return [] }
    return advance(at: now)
  }

  /// Begins the next action: changes before a base, because a base speaks for everything up to its number.
  private mutating func advance(at now: Duration) -> [Effect] {
    if nextBase <= now { base.request() }
    switch base {
    case .due:
      return perform(.readBase)
    case .read(let found, let parts):
      last = max(last, found.number)
      if found.number > scanned { return readChanges() }
      guard found.number == scanned else { return retry(at: now) }
      return publish(parts, number: found.number)
    case .none:
      if scanned < last { return readChanges() }
      let handshake = now + FleetLimits.idleHandshakeInterval
      phase = .idle(handshakeAt: handshake)
      return [.wake(at: min(handshake, nextBase))]
    }
  }

  private mutating func readChanges() -> [Effect] {
    perform(.readChanges(after: scanned, limit: FleetLimits.changesPerMessage))
  }

  private mutating func publish(_ page: OutboxPage, at now: Duration) -> [Effect] {
    last = max(last, page.last)
    var upper = page.through
    if case .read(let found, _) = base { upper = min(upper, found.number) }
    // One message is either new or repeated.
    if let first = page.changes.first, first.number <= ackedEver { upper = min(upper, ackedEver) }
    if page.start > scanned { start = page.start }
    let changes = page.changes.prefix { $0.number <= upper }
    guard let first = changes.first else {
      // Nothing of the fleet up to there. A page that ends where it began would be read again for ever.
      guard upper > scanned else { return retry(at: now) }
      scanned = upper
      return advance(at: now)
    }
    return publish(
      .changes(
        ChangeBatch(prev: start, from: first.number, to: upper, again: upper <= ackedEver, changes: Array(changes))))
  }

  private mutating func publish(_ parts: ArraySlice<[BaseCell]>, number: UInt64) -> [Effect] {
    let part = BasePart(
      prev: start, number: number, part: parts.startIndex + 1, of: parts.endIndex, cells: parts.first ?? [])
    return publish(.base(part))
  }

  private mutating func publish(_ content: AgentMessage.Content) -> [Effect] {
    let message = AgentMessage(agent: agent, epoch: epoch, after: after, content)
    inFlight = message
    return perform(.publish(message, ExpectedLast(after: after)))
  }

  private mutating func acknowledge(_ sequence: UInt64, at now: Duration) -> [Effect] {
    guard let message = inFlight else { return advance(at: now) }
    inFlight = nil
    failures = 0
    hasPublished = true
    after = sequence
    published = message.to
    start = published
    scanned = max(scanned, published)
    ackedEver = max(ackedEver, published)
    if case .base(let part) = message.content, case .read(let found, let parts) = base {
      base = part.part == part.of ? .none : .read(found, parts: parts.dropFirst())
      if part.part == part.of { nextBase = now + baseInterval }
    }
    return [.save(acknowledgement)] + advance(at: now)
  }
}
