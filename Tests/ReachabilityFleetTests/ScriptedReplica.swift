import ReachabilityFleet

/// A replica's process around a ``FleetReplica``, driven step by step.
struct ScriptedReplica {
  let id: String
  private(set) var replica: FleetReplica
  private(set) var window = EventWindow(limit: 100_000)
  /// How often its fold began again.
  private(set) var restarts = 0
  private var cursor: UInt64?
  private var wantsState = false
  private var wake: Duration?
  private(set) var outgoing: [(message: FleetMessage, expecting: ExpectedLast?)] = []
  private(set) var requestedBases: [String] = []

  init(_ id: String) {
    self.id = id
    replica = FleetReplica(id: id, attributes: NodeHello(role: .replica, version: "1"))
  }

  var fold: FleetFold { replica.fold }

  mutating func connect(_ isConnected: Bool, at now: Duration) {
    guard isConnected != replica.isConnected else { return }
    cursor = nil
    wantsState = false
    outgoing = []
    run(replica.handle(.connection(isConnected), at: now))
  }

  mutating func received(_ node: String, at now: Duration) {
    if replica.isConnected { run(replica.handle(.heartbeat(node), at: now)) }
  }

  mutating func fireTimer(at now: Duration) {
    guard let wake, wake <= now else { return }
    self.wake = nil
    run(replica.handle(.timer, at: now))
  }

  mutating func takeRequestedBases() -> [String] {
    defer { requestedBases = [] }
    return requestedBases
  }

  /// Answers what it waits for, and delivers up to some messages.
  mutating func step(_ stream: ScriptedStream, limit: Int, at now: Duration) {
    guard replica.isConnected else { return }
    if wantsState {
      wantsState = false
      run(replica.handle(.streamState(stream.state), at: now))
    }
    for _ in 0..<limit {
      guard let cursor, let index = stream.index(from: cursor) else { return }
      let entry = stream.entries[index]
      self.cursor = entry.sequence + 1
      let stored = StoredMessage(
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
      case .readStreamState: wantsState = true
      case .consume(let sequence): cursor = sequence
      case .publish(let message, let expecting): outgoing.append((message, expecting))
      case .requestBase(let agent): requestedBases.append(agent)
      case .events(let events): for event in events { window.append(event) }
      case .restarted:
        restarts += 1
        window = EventWindow(limit: 100_000)
        cursor = nil
      case .wake(let time): wake = time
      }
    }
  }
}

/// A subscriber that may move between replicas.
struct ScriptedSubscriber {
  var replica: Int
  private(set) var last: FleetEventID?
  private(set) var received: [FleetEvent] = []
  private(set) var gaps = 0
  private var restarts = 0
  private var mustResume = false

  init(replica: Int) { self.replica = replica }

  mutating func move(to index: Int, restarts: Int) {
    guard replica != index else { return }
    replica = index
    self.restarts = restarts
    mustResume = last != nil
  }

  mutating func step(_ source: ScriptedReplica) {
    if restarts != source.restarts {
      restarts = source.restarts
      begin(source)
      return
    }
    if mustResume, let last {
      // A replica that is behind does not know which history is the present one.
      guard source.replica.isComplete else { return }
      switch FleetResume(
        after: last, epoch: source.fold.epoch, folded: source.fold.sequence, oldest: source.window.oldest,
        check: source.window.check(of:))
      {
      case .wait: return
      case .gap: return begin(source)
      case .replay: mustResume = false
      }
    }
    let events = source.window.events(after: last?.number ?? 0)
    received += events
    last = events.last?.id ?? last
  }

  /// The event `gap` and a snapshot.
  private mutating func begin(_ source: ScriptedReplica) {
    gaps += 1
    received = []
    mustResume = false
    last = source.window.last ?? FleetEventID(epoch: source.fold.epoch, number: source.window.oldest, check: 0)
  }
}
