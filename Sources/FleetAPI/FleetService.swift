internal import Dispatch
internal import EventStreams
internal import HTTPRouting
internal import Locks
public import Logging
public import ReachabilityFleet

/// A replica of the fleet: it runs a ``FleetReplica`` on an engine, and has the state that the routes under `/fleet`
/// serve.
public final class FleetService: Sendable {
  /// The limits of the history that subscribers can continue in: the same number of events as a node's.
  static let eventLimit = 16_384
  static let eventBytes = 1024 * 1024
  static let eventBytesLimit = 8 * 1024 * 1024

  struct State {
    var replica: FleetReplica
    /// The id of the last event in the log; nil if it has none.
    var lastEvent: FleetEventID?
    /// The number after which the log began.
    var start: UInt64 = 0
    var health: FleetEngineHealth
    /// Earlier timers are ignored.
    var wakeNumber: UInt64 = 0
    var waiters = FleetFoldWaiters()
    var subscriptions: [any FleetSubscription] = []
    var webhooks: FleetWebhooks?
    var isStopped = false
    var rosters = FleetRosterHashes()
    /// When hints were sent last, and whether a timer waits for the next.
    var hintTime = Duration.zero
    var hasHintTimer = false
  }

  /// The replica's id.
  public let id: String
  let engine: any FleetEngine
  /// The engine over the connection for agents: what they send cannot delay the stream.
  let members: any FleetEngine
  let log: EventLog
  let state: Locked<State>
  let queue = DispatchQueue(label: "fleet")
  let reader: FleetStreamReader
  let logger: Logger
  let changes: FleetEventLog
  let heartbeats = FleetHeartbeatTable()
  private let meshCache = FleetMeshChecksCache()
  let instance = UInt64.random(in: .min ... .max)
  /// Requests that wait for a change of the state.
  let waitingRequests = LongPollRegistry<Never>()
  private let heartbeatAdmission = GatewayAdmission(GatewayLimits.heartbeats)
  private let gatewayOnce = Locked<FleetGateway?>(nil)

  /// Creates a replica that is not started.
  ///
  /// - Parameters:
  ///   - id: the id of this replica.
  ///   - hello: what its `hello` contains.
  ///   - engine: the engine.
  ///   - members: the engine over another connection, for requests and heartbeats of agents.
  ///   - logger: receives failures of publications.
  ///   - createStream: creates the stream when there is none, and then calls its argument.
  public init(
    id: String, hello: NodeHello, engine: any FleetEngine, members: any FleetEngine, logger: Logger,
    createStream: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void = { $0() }
  ) {
    reader = FleetStreamReader(engine, on: queue, createStream: createStream)
    self.id = id
    self.engine = engine
    self.members = members
    self.logger = logger
    changes = FleetEventLog(logger)
    state = Locked(
      State(replica: FleetReplica(id: id, attributes: hello), health: FleetEngineHealth(at: Self.now)))
    log = EventLog(
      byteCapacity: Self.eventBytes, growingTo: Self.eventBytesLimit, entryCapacity: Self.eventLimit)
  }

  /// Begins to follow the engine.
  public func start() {
    let subscription = members.subscribe(
      FleetSubject.heartbeats, group: nil, admits: { [heartbeatAdmission] in heartbeatAdmission.admits($0) }
    ) { [weak self] message in
      // The engine's permissions are about subjects: an agent can send heartbeats of no other one.
      guard let self, let heartbeat = heartbeats.receive(message, at: Self.now) else { return }
      queue.async {
        self.heartbeats.endSuspicion()
        self.handle(.suspected(heartbeat.suspects, by: heartbeat.agent))
      }
    }
    state.withLock { $0.subscriptions.append(subscription) }
    engine.observeConnection { [weak self] isConnected in
      guard let self else { return }
      queue.async { self.handle(.connection(isConnected)) }
    }
    queue.async { [weak self] in self?.sendHeartbeats() }
  }

  /// The time for which the end of the process waits for the engine.
  private static let byeTimeout = Duration.seconds(1)

  /// Ends, and publishes that, so that the other replicas take its place immediately; it blocks for at most a second.
  public func stop() {
    let subscriptions = state.withLock { state in
      state.isStopped = true
      defer { state.subscriptions = [] }
      return state.subscriptions
    }
    subscriptions.forEach { $0.cancel() }
    reader.stop()
    gateway.setMember(false)
    let bye = FleetMessage.node(NodeMessage(id: id, .bye))
    let isPublished = Latch()
    engine.publish(FleetWire.encode(bye), on: bye.subject, expecting: nil) { _ in isPublished.open() }
    _ = isPublished.wait(atMost: Self.byeTimeout)
  }

  /// What agents send requests to.
  var gateway: FleetGateway {
    gatewayOnce.withLock { made in
      let gateway = made ?? FleetGateway(members, self, logger)
      made = gateway
      return gateway
    }
  }

  /// Adds webhooks, before the start.
  func attach(_ webhooks: FleetWebhooks) { state.withLock { $0.webhooks = webhooks } }

  // MARK: - State

  /// The state of the fleet, and whether it is complete and the engine connected.
  var snapshot: FleetSnapshot { state.withLock { FleetSnapshot($0, heartbeats, meshCache) } }

  /// The beginning of a stream: what it sends first, and the position and the state to which that belongs.
  typealias Subscription = (resume: FleetResume, cursor: EventLog.Cursor, snapshot: FleetSnapshot)

  /// Decides what a subscriber receives after an id, or nil for a new one, in one critical section with its position.
  func subscribe(after id: FleetEventID?) -> Subscription {
    state.withLock { state in
      let snapshot = FleetSnapshot(state, heartbeats, meshCache)
      // Before it has found the stream, it has no id of the moment.
      guard let id else { return (snapshot.fold.created == 0 ? .wait : .replay, log.end, snapshot) }
      let resume = FleetResume(
        after: id, epoch: snapshot.fold.epoch, folded: snapshot.fold.sequence,
        isComplete: snapshot.isComplete, oldest: log.startID, check: log.check(of:))
      guard resume == .replay else { return (resume, log.end, snapshot) }
      guard case .at(let cursor) = log.cursor(after: id.number) else { return (.gap(.tooOld), log.end, snapshot) }
      return (.replay, cursor, snapshot)
    }
  }

  /// Calls a closure when a message is folded, after the time limit, or immediately if too many requests wait.
  func wait(
    for position: FleetEngineStreamPosition, within limit: Duration,
    _ complete: @escaping @Sendable (_ isFolded: Bool) -> Void
  ) {
    let (number, isFolded) = state.withLock { state -> (UInt64?, Bool) in
      guard !FleetFoldWaiters.isFolded(position, by: state.replica) else { return (nil, true) }
      return (state.waiters.add(.init(position: position, complete: complete)), false)
    }
    guard let number else { return complete(isFolded) }
    queue.asyncAfter(deadline: .now() + limit.timeInterval) { [weak self] in
      self?.state.withLock { $0.waiters.remove(number) }?.complete(false)
    }
  }
}

extension Duration {
  /// As Dispatch takes it.
  var timeInterval: Double { self / .seconds(1) }

  /// As documents and the log have it.
  var wholeSeconds: Int64 { components.seconds }
}
