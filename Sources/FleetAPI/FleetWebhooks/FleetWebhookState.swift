internal import DequeModule
internal import JSONFormat
internal import NetworkReachability
internal import ReachabilityFleet
internal import Webhooks

/// The events of a fleet for webhooks, the positions that the stream has, and which webhooks this replica sends.
struct FleetWebhookState: Sendable {
  /// The time for which a replica is the first one before it begins: the one before ends its request and stores its position.
  private static let takeoverDelay = Duration.seconds(5)
  /// The entries of the delivery log, which each replica has in memory.
  private static let loggedDeliveries = 1_000

  /// The position of a webhook as the stream has it.
  struct Cursor: Sendable {
    var position: WebhookPosition
    var sequence: UInt64
    var time: Int64
  }

  struct Change {
    var positions: [String: WebhookPosition?]
    var epoch: String
    var end: UInt64
  }

  struct Reference<Object: AnyObject & Sendable>: Sendable { weak var object: Object? }

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

  /// The number of the last event.
  var end: UInt64 { max(start, events.last?.sequence ?? 0) }

  /// The webhooks that the replica sends: those in whose ranking it has been the first one for some time.
  mutating func owned(
    of ids: [String], _ replica: FleetReplica, isUsable: Bool, at now: Duration
  ) -> Set<String> {
    guard isUsable, replica.isComplete, !epoch.isEmpty else {
      first = [:]
      return []
    }
    let replicas = replica.fold.presentReplicas
    let ranked = ids.filter { FleetRendezvousHash.rank(of: replica.id, among: replicas, for: $0) == 0 }
    first = Dictionary(ranked.map { ($0, first[$0] ?? now) }) { earlier, _ in earlier }
    return Set(first.filter { now - $0.value >= Self.takeoverDelay || owned.contains($0.key) }.keys)
  }

  mutating func change(to ids: Set<String>) -> Change {
    owned = ids
    let positions: [(String, WebhookPosition?)] = ids.map { ($0, cursors[$0]?.position ?? lost[$0]) }
    return Change(positions: Dictionary(positions) { earlier, _ in earlier }, epoch: epoch, end: end)
  }

  /// Adds entries to the delivery log.
  mutating func append(_ records: [WebhookLogEntry]) {
    for var record in records {
      logged += 1
      record.number = logged
      log.append(record)
      if log.count > Self.loggedDeliveries { log.removeFirst() }
    }
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
      // Another cause of the same verdict is no alert.
      guard message.from != message.to else { return nil }
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
