import ReachabilityFleet

/// A ``FleetReplica`` with the effects of its process, which a test runs step by step.
struct ScriptedReplica {
  let id: String
  private(set) var replica: FleetReplica
  private(set) var window = FleetEventWindow(limit: 100_000)
  /// The number of times that it discarded its fold and read the stream from the start.
  private(set) var restarts = 0
  private var cursor: UInt64?
  /// The sequence of a pending request for the stream's state.
  private var wantsState: UInt64?
  private var wake: Duration?
  /// When it last received messages or a heartbeat of its consumer.
  private var lastReceived = Duration.zero
  private(set) var outgoing: [(message: FleetMessage, expecting: FleetEngineExpectedLast?)] = []
  private(set) var requestedBases: [String] = []
  private(set) var questions: [String] = []
  private var asked: [FleetQuestion] = []

  init(_ id: String) {
    self.id = id
    replica = FleetReplica(id: id, attributes: NodeHello(role: .replica, version: "1"))
  }

  var fold: FleetFold { replica.fold }

  mutating func connect(_ isConnected: Bool, at now: Duration) {
    guard isConnected != replica.isConnected else { return }
    cursor = nil
    wantsState = nil
    outgoing = []
    run(replica.handle(.connection(isConnected), at: now))
  }

  mutating func received(_ node: String, at now: Duration) {
    if replica.isConnected { run(replica.handle(.heartbeats([node: now]), at: now)) }
  }

  /// The silence after which a consumer reports an interruption: six heartbeats of 250 ms, and its own interval.
  private static let silence = Duration.milliseconds(1750)

  mutating func fireTimer(at now: Duration) {
    if cursor != nil, now - lastReceived > Self.silence {
      cursor = nil
      run(replica.handle(.interrupted, at: now))
    }
    guard let wake, wake <= now else { return }
    self.wake = nil
    run(replica.handle(.timer, at: now))
  }

  mutating func takeRequestedBases() -> [String] {
    defer { requestedBases = [] }
    return requestedBases
  }

  mutating func takeQuestions() -> [String] {
    defer { questions = [] }
    return questions
  }

  /// Answers the questions that it has asked; nil for an agent that does not answer.
  mutating func answerQuestions(at now: Duration, _ answer: (FleetQuestion) -> [FleetCheckResult]?) {
    let questions = asked
    asked = []
    guard replica.isConnected else { return }
    for question in questions { run(replica.handle(.answered(question, answer(question)), at: now)) }
  }

  /// The engine has no subscription of an agent that it asked.
  mutating func absent(_ agent: String, at now: Duration) {
    if replica.isConnected { run(replica.handle(.absent(agent), at: now)) }
  }

  /// Answers a pending request for the stream's state, and delivers at most `limit` messages.
  mutating func step(_ stream: ScriptedStream, limit: Int, at now: Duration) {
    guard replica.isConnected else { return }
    lastReceived = now
    if let sequence = wantsState {
      wantsState = nil
      run(replica.handle(.streamState(stream.state, since: sequence), at: now))
    }
    for _ in 0..<limit {
      guard let cursor, let index = stream.index(from: cursor) else { return }
      let entry = stream.entries[index]
      self.cursor = entry.sequence + 1
      let stored = FleetEngineStoredMessage(
        subject: entry.message.subject.description, sequence: entry.sequence, time: entry.time,
        payload: [UInt8]("\(entry.message.hashValue)".utf8))
      let pending = UInt64(stream.entries.count - index - 1)
      if fold.sequence == 0 { window.begin(at: entry.sequence) }
      run(replica.handle(.message(entry.message, stored, pending: pending), at: now))
    }
  }

  /// Sends the next message; it may be lost.
  mutating func send(to stream: inout ScriptedStream, losing isLost: Bool) {
    guard !outgoing.isEmpty else { return }
    let next = outgoing.removeFirst()
    if !isLost { _ = try? stream.publish(next.message, expecting: next.expecting) }
  }

  private mutating func run(_ effects: [FleetReplica.Effect]) {
    for effect in effects {
      switch effect {
      case .readStreamState(let sequence): wantsState = sequence
      case .consume(let sequence): cursor = sequence
      case .publish(let message, let expecting): outgoing.append((message, expecting))
      case .requestBase(let agent, _): requestedBases.append(agent)
      case .ask(let agent): questions.append(agent)
      // The scripted agents check nothing.
      case .requestChecks: break
      case .question(let question): asked.append(question)
      case .events(let events): for event in events { window.append(event) }
      case .hole(let sequence):
        restarts += 1
        window.begin(at: sequence)
      case .restarted:
        restarts += 1
        window = FleetEventWindow(limit: 100_000)
        cursor = nil
      case .wake(let time): wake = time
      }
    }
  }
}

/// A subscriber that may move between replicas, as clients of `/fleet/events` do.
struct ScriptedSubscriber {
  private(set) var replica: Int
  private(set) var last: FleetEventID?
  /// The events that it received since the last gap.
  private(set) var received: [FleetEvent] = []
  private(set) var gaps = 0
  /// The numbers up to which the last snapshot had each agent's changes.
  private(set) var known: [String: UInt64] = [:]
  private var restarts = 0
  private var link = Link.waiting(since: .zero)

  /// How long a replica asks a client to wait for an id that it has not reached yet, before it reports a gap.
  private static let patience = Duration.seconds(5)

  private enum Link: Hashable {
    case waiting(since: Duration)
    case open
  }

  init(replica: Int) { self.replica = replica }

  mutating func move(to index: Int, at now: Duration) {
    guard replica != index else { return }
    replica = index
    link = .waiting(since: now)
  }

  mutating func step(_ source: ScriptedReplica, at now: Duration) {
    // A replica that restarts its fold closes its streams.
    if link == .open, restarts != source.restarts { link = .waiting(since: now) }
    if case .waiting(let start) = link {
      guard connect(source, waited: now - start) else { return }
      link = .open
      restarts = source.restarts
    }
    let events = source.window.events(after: last?.number ?? 0)
    received += events
    last = events.last?.id ?? last
  }

  /// Connects to a replica; false if it does not accept the stream yet.
  private mutating func connect(_ source: ScriptedReplica, waited: Duration) -> Bool {
    guard let last else {
      guard source.replica.isComplete else { return false }
      begin(source)
      return true
    }
    let resume = FleetResume(
      after: last, epoch: source.fold.epoch, folded: source.fold.sequence, isComplete: source.replica.isComplete,
      oldest: source.window.oldest, check: source.window.check(of:))
    switch resume {
    case .replay: return true
    case .wait where !source.replica.isComplete || waited < Self.patience: return false
    case .wait, .gap:
      gaps += 1
      begin(source)
      return true
    }
  }

  /// Starts with a snapshot and the id of its last event.
  private mutating func begin(_ source: ScriptedReplica) {
    received = []
    known = source.fold.nodes.compactMapValues(\.highWater)
    last = source.window.last ?? FleetEventID(epoch: source.fold.epoch, number: source.window.oldest, check: 0)
  }
}
