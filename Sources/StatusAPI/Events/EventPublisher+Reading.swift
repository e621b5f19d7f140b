internal import HTTPRouting
internal import EventStreams
internal import History
internal import Locks
internal import NetworkReachability

// What requests read.
extension EventPublisher {
  /// The current documents.
  var documents: Documents { guarded.withLock(\.visible) }

  /// The id of the last event.
  ///
  /// A client that reads it before the registered targets, and resumes after it, misses no change of them.
  var lastEvent: EventID { guarded.withLock { EventID(epoch: epoch, sequence: $0.visible.lastSequence) } }

  /// Returns the snapshot's `/status` document and the log position after it, atomically.
  func subscribe() -> (frame: [UInt8], cursor: EventLog.Cursor) {
    guarded.withLock { state in
      let documents = state.visible
      let id = EventID(epoch: epoch, sequence: documents.lastSequence)
      // The document is already encoded; only its line end must be removed.
      return (SSEFrame.event("snapshot", id: id, Array(documents.status.bytes.dropLast())), log.end)
    }
  }

  /// Returns the position after the event with this id; nil when the id is of another history or too old.
  func resume(after text: String) -> EventLog.Cursor? {
    guard let sequence = sequence(of: text), case .at(let cursor) = log.cursor(after: sequence) else { return nil }
    return cursor
  }

  /// Returns what the store has between the event with this id and the log; nil for an id of another history, or
  /// without a store.
  func replay(after text: String, _ selection: EventLog.Selection, client: String) -> EventReplay? {
    guard let store, let sequence = sequence(of: text), isTooOld(sequence) else { return nil }
    return EventReplay(self, store, after: sequence, selection, replays, client: client)
  }

  /// Whether the present state is not known yet.
  var awaitsFirstReading: Bool { documents.snapshot.machine.reason == .starting }

  /// The longest wait for the first reading; it takes a few milliseconds unless the kernel is not available.
  private static let firstReadingLimit = Duration.seconds(2)

  /// Makes a response after the first reading.
  ///
  /// A snapshot before it would report an unknown state, as if a restart had changed it, and no interfaces, for which the
  /// first reading has no events.
  func afterFirstReading(_ response: @escaping @Sendable () -> HTTPResponse) -> HTTPReply {
    .wait(
      HTTPWait(limit: Self.firstReadingLimit, expired: response) { [self] promise in
        let waiter = statusWaiters.add { [self] _ in
          guard !awaitsFirstReading else { return false }
          promise.fulfil(response())
          return true
        }
        return { [self] in statusWaiters.remove(waiter) }
      })
  }

  /// The selection of a client that knows the state before the first reading: it misses events only.
  func withoutInitialEntry(_ selection: EventLog.Selection) -> EventLog.Selection {
    guard store != nil else { return selection }
    var selection = selection
    selection.kinds &= ~(1 << UInt64(Self.initialKind))
    return selection
  }

  /// Whether the log has lost an event after this number.
  func isTooOld(_ sequence: UInt64) -> Bool {
    if case .tooOld = log.cursor(after: sequence) { true } else { false }
  }

  /// Returns the number in an id of this history; nil for any other text.
  func sequence(of text: String) -> UInt64? {
    guard let id = EventID(text), id.epoch == epoch else { return nil }
    return id.sequence
  }

  /// The id of the oldest event that can be replayed; nil when there is none.
  var oldest: EventID? { log.oldestID.map { EventID(epoch: epoch, sequence: $0) } }

  /// The log entry of a stored event.
  static func entry(_ event: StoredEvent) -> EventLog.Entry {
    EventLog.Entry(
      id: event.sequence, kind: min(event.kind, EventLog.highestKind),
      labels: EventLog.Labels(topic: HistorySubject.targetID(in: event.subject).map(label) ?? 0), bytes: event.body)
  }
}
