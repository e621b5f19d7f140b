internal import DequeModule
internal import Locks
internal import NetworkReachability
internal import ReachabilityFleet
public import Webhooks

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
            state.cursors[id] = Cursor(position: position, sequence: sequence, time: Timestamp.now.microseconds * 1000)
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

extension FleetWebhooks.State {
  fileprivate mutating func append(_ records: [WebhookLogEntry]) {
    for var record in records {
      logged += 1
      record.number = logged
      log.append(record)
      if log.count > FleetWebhooks.loggedDeliveries { log.removeFirst() }
    }
  }
}
