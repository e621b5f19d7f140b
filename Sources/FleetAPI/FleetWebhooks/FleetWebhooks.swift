internal import DequeModule
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
  private let state = Locked(FleetWebhookState())

  /// Creates webhooks that send nothing before ``attach(_:_:)``.
  public init() {}

  /// Connects them with a replica and the dispatcher that sends them.
  public func attach(_ fleet: FleetService, _ dispatcher: WebhookDispatcher?) {
    state.withLock { state in
      state.fleet.object = fleet
      state.dispatcher.object = dispatcher
    }
    fleet.attach(self)
  }

  // MARK: - The stream, on the queue of the replica

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
      state.cursors[id] = FleetWebhookState.Cursor(position: position, sequence: message.sequence, time: message.time)
      state.lost[id] = nil
    }
  }

  /// Decides which webhooks this replica sends, regularly.
  func review(_ replica: FleetReplica, isUsable: Bool, at now: Duration) {
    let (change, dispatcher, old) = state.withLock {
      state -> (FleetWebhookState.Change?, WebhookDispatcher?, [String: WebhookPosition]) in
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
}

extension FleetWebhooks: WebhookEventSource {
  /// The epoch of the stream's events.
  public var epoch: String { state.withLock(\.epoch) }

  /// The number of the last event.
  public var end: UInt64 { state.withLock(\.end) }

  /// Reads the events after a number.
  public func read(
    after sequence: UInt64, limit: Int, _ completion: @escaping @Sendable (WebhookBatch) -> Void
  ) {
    let batch = state.withLock { state -> WebhookBatch in
      guard sequence >= state.start else { return .missing(through: state.start) }
      var bytes = 0
      let next = state.events.lazy.drop { $0.sequence <= sequence }.prefix { event in
        defer { bytes += event.data.count }
        return bytes < limit
      }
      let now = Timestamp.now
      let events = next.map { event in
        var event = event
        event.age = max(.zero, event.time.duration(to: now))
        return event
      }
      return events.last.map { .events(Array(events), through: $0.sequence) } ?? .failed
    }
    completion(batch)
  }
}

extension FleetWebhooks: WebhookStorage {
  /// Positions come from the stream, with the decision which replica sends.
  public func load(_ completion: @escaping @Sendable ([String: WebhookPosition]?) -> Void) {}

  /// Publishes positions, unless the stream has later ones.
  public func save(
    _ positions: [String: WebhookPosition], _ records: [WebhookLogEntry],
    _ completion: @escaping @Sendable (Bool) -> Void
  ) {
    let (fleet, messages) = state.withLock { state -> (FleetService?, [(String, WebhookPosition, UInt64)]) in
      state.append(records)
      let messages = positions.compactMap { id, position -> (String, WebhookPosition, UInt64)? in
        let known = state.cursors[id]
        guard position.epoch == state.epoch else { return nil }
        if let known, known.position.epoch == position.epoch, known.position.settled > position.settled { return nil }
        return (id, position, known?.sequence ?? 0)
      }
      return (state.fleet.object, messages)
    }
    guard let fleet, !messages.isEmpty else { return completion(true) }
    let rest = Locked((count: messages.count, isStored: true))
    for (id, position, last) in messages {
      fleet.publish(position, of: id, after: last) { [weak self] result in
        if case .success(let sequence) = result {
          self?.state.withLock { state in
            guard state.cursors[id]?.sequence ?? 0 < sequence else { return }
            state.cursors[id] = FleetWebhookState.Cursor(
              position: position, sequence: sequence, time: Timestamp.now.microseconds * 1000)
          }
        }
        // Another replica has a later one after a conflict.
        let isStored =
          switch result {
          case .success, .failure(.unexpectedLast): true;
          case .failure: false
          }
        let ended = rest.withLock { rest -> Bool? in
          rest.count -= 1
          rest.isStored = rest.isStored && isStored
          return rest.count == 0 ? rest.isStored : nil
        }
        if let ended { completion(ended) }
      }
    }
  }

  /// The delivery log of this replica.
  public func log(
    of id: String, before entry: Int64?, limit: Int, _ completion: @escaping @Sendable ([WebhookLogEntry]?) -> Void
  ) {
    let entries = state.withLock { state in
      state.log.reversed().lazy.filter { $0.webhook == id && $0.number < entry ?? .max }.prefix(limit)
    }
    completion(Array(entries))
  }
}
