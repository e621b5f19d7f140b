internal import DequeModule
internal import JSONFormat
internal import Locks
internal import NetworkReachability
internal import ReachabilityFleet
public import Webhooks

/// The webhooks of a fleet: every replica has the events, and one delivers them.
///
/// The first replica in the ranking of a webhook sends it. Its position is a message on a subject of its own in the stream,
/// so that the next one continues there (ADR 64).
public final class FleetWebhooks: Sendable {
  /// The events that a receiver can be behind: as many as subscribers can continue in; beyond, a gap is reported.
  static let eventLimit = 16_384
  /// The time for which a replica is the first one before it begins: the one before ends its request and stores its position.
  static let takeoverDelay = Duration.seconds(5)
  /// The entries of the delivery log, which each replica has in memory.
  static let loggedDeliveries = 1_000

  /// The position of a webhook as the stream has it.
  struct Cursor: Sendable {
    var position: WebhookPosition
    var sequence: UInt64
    var time: Int64
  }

  struct State: Sendable {
    var epoch = ""
    /// The events, and the number after which they are complete.
    var events: Deque<WebhookEvent> = []
    var start: UInt64 = 0
    var cursors: [String: Cursor] = [:]
    /// The positions that a lost stream had.
    var lost: [String: WebhookPosition] = [:]
    /// The webhooks in whose ranking this replica is the first one, and since when.
    var first: [String: Duration] = [:]
    var owned: Set<String> = []
    var log: Deque<WebhookLogEntry> = []
    var logged: Int64 = 0
    var fleet = Reference<FleetService>()
    var dispatcher = Reference<WebhookDispatcher>()
  }

  struct Reference<Object: AnyObject & Sendable>: Sendable { weak var object: Object? }

  let state = Locked(State())

  /// Creates webhooks that send nothing before ``attach(_:_:)``.
  public init() {}

  /// Connects them with a replica and the dispatcher that sends them.
  public func attach(_ fleet: FleetService, _ dispatcher: WebhookDispatcher?) {
    state.withLock { state in
      state.fleet = Reference(object: fleet)
      state.dispatcher = Reference(object: dispatcher)
    }
    fleet.attach(self)
  }

  // MARK: - The stream, on the queue of the replica

  /// Adds events of the fold.
  func append(_ events: [FleetEvent], _ fold: FleetFold) {
    let own = events.compactMap { WebhookEvent($0, fold) }
    let (dispatcher, end) = state.withLock { state -> (WebhookDispatcher?, UInt64) in
      if state.epoch.isEmpty {
        state.epoch = FleetEventID(epoch: fold.epoch, number: 0, check: 0).epochText
        state.start = FleetEventID.number(before: fold.first)
      }
      for event in own {
        state.events.append(event)
        if state.events.count > Self.eventLimit { state.start = state.events.removeFirst().sequence }
      }
      return (state.dispatcher.object, state.end)
    }
    if !own.isEmpty { dispatcher?.eventsAvailable(through: end) }
  }

  /// The stream is another one; its fold begins.
  func restart() {
    let dispatcher = state.withLock { state -> WebhookDispatcher? in
      for (id, cursor) in state.cursors { state.lost[id] = cursor.position }
      // What this replica has delivered since its last message.
      for (id, position) in state.dispatcher.object?.positions ?? [:] where state.owned.contains(id) {
        state.lost[id] = position
      }
      (state.epoch, state.events, state.start) = ("", [], 0)
      (state.cursors, state.owned, state.first) = ([:], [], [:])
      return state.dispatcher.object
    }
    dispatcher?.own([:], epoch: "", end: 0)
  }

  /// A position was read from the stream.
  func read(_ message: FleetEngineStoredMessage) {
    guard case .hook(let id)? = FleetSubject(message.subject),
      let position = WebhookPosition(document: message.payload)
    else { return }
    state.withLock { state in
      state.cursors[id] = Cursor(position: position, sequence: message.sequence, time: message.time)
      state.lost[id] = nil
    }
  }

  /// Decides which webhooks this replica sends, regularly.
  func review(_ replica: FleetReplica, isUsable: Bool, at now: Duration) {
    let (change, dispatcher, old) = state.withLock {
      state -> (Change?, WebhookDispatcher?, [String: WebhookPosition]) in
      guard let dispatcher = state.dispatcher.object else { return (nil, nil, [:]) }
      let ids = dispatcher.reports.map(\.definition.id)
      let owned = state.owned(of: ids, replica, isUsable: isUsable, at: now)
      let change = owned == state.owned ? nil : state.change(to: owned)
      // What the stream drops before long is published again.
      let old = state.cursors.filter {
        owned.contains($0.key) && replica.dropsSoon($0.value.sequence, at: $0.value.time)
      }
      return (change, dispatcher, old.mapValues(\.position))
    }
    if let change {
      dispatcher?.own(change.positions, epoch: change.epoch, end: change.end)
    } else {
      // Positions that the engine did not store are published again.
      dispatcher?.eventsAvailable(through: state.withLock(\.end))
    }
    if !old.isEmpty { save(old, []) { _ in } }
  }

  struct Change {
    var positions: [String: WebhookPosition?]
    var epoch: String
    var end: UInt64
  }
}

extension FleetWebhooks.State {
  /// The number of the last event.
  var end: UInt64 { max(start, events.last?.sequence ?? 0) }

  /// The webhooks that the replica sends: those in whose ranking it has been the first one for some time.
  fileprivate mutating func owned(
    of ids: [String], _ replica: FleetReplica, isUsable: Bool, at now: Duration
  ) -> Set<String> {
    guard isUsable, replica.isComplete, !epoch.isEmpty else {
      first = [:]
      return []
    }
    let replicas = replica.fold.presentReplicas
    let ranked = ids.filter { FleetRendezvousHash.rank(of: replica.id, among: replicas, for: $0) == 0 }
    first = Dictionary(ranked.map { ($0, first[$0] ?? now) }) { earlier, _ in earlier }
    return Set(first.filter { now - $0.value >= FleetWebhooks.takeoverDelay || owned.contains($0.key) }.keys)
  }

  fileprivate mutating func change(to ids: Set<String>) -> FleetWebhooks.Change {
    owned = ids
    let positions: [(String, WebhookPosition?)] = ids.map { ($0, cursors[$0]?.position ?? lost[$0]) }
    return FleetWebhooks.Change(positions: Dictionary(positions) { earlier, _ in earlier }, epoch: epoch, end: end)
  }
}

extension FleetEventID {
  /// The epoch as the ids of events have it.
  var epochText: String { String(description.prefix { $0 != "-" }) }
}

extension WebhookEvent {
  /// An event of the fleet for webhooks: a verdict, or an agent's start, end or loss; nil for others.
  init?(_ event: FleetEvent, _ fold: FleetFold) {
    let data = FleetEventRepresentation.data(event).bytes
    let time = Timestamp(nanoseconds: event.time)
    switch event.content {
    case .verdict(let message):
      self.init(
        sequence: event.id.number, id: event.id.description, time: time, type: "verdict",
        subject: "target:\(message.target)", state: message.to.rawValue, target: message.target,
        labels: fold.targets[message.target]?.definition.spec.labels ?? [:], data: data)
    case .node(let id, let state, let hello):
      guard (hello ?? fold.nodes[id]?.hello)?.role ?? .agent == .agent else { return nil }
      self.init(
        sequence: event.id.number, id: event.id.description, time: time, type: "agent", subject: "agent:\(id)",
        state: state.rawValue, data: data)
    case .cell, .definition, .gap: return nil
    }
  }
}
