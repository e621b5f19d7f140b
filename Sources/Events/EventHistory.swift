package import EventStreams
package import History
package import JSONFormat

/// The visible events of this service: those in memory first, so that a full disk delays nothing, then those of the store.
package final class EventHistory: Sendable {
  package enum Batch: Sendable {
    /// The numbers and the data of the next events, at least one.
    case events([(sequence: UInt64, data: [UInt8])])
    /// The next events, up to this number, are not kept any longer.
    case missing(through: UInt64)
    case end
    /// The store cannot be read now.
    case failed
  }

  /// Entries of the log that are examined per read; their bytes are limited too.
  private static let entriesPerRead = 256
  /// The size of the smallest event in bytes, which limits the number of entries.
  private static let minimumEventBytes = 256
  /// The size of the log in bytes: enough for an outage of ten thousand targets, at about 500 bytes each.
  package static let defaultBytes = 8 * 1024 * 1024
  /// The kind of entries that streams receive and that are not events of the history.
  static let initialKind: UInt8 = EventLog.highestKind
  /// The entries of that kind, in a selection.
  package static let initialMask: UInt64 = 1 << UInt64(initialKind)

  package let epoch: String
  /// The events in memory as clients receive them.
  package let log: EventLog
  /// Commits events before they are visible; nil without a data directory.
  package let store: HistoryStore?
  /// Limits what is read from the store for streams at a time.
  package let replays = EventReplayLimiter()

  /// Makes an empty log, or one with the newest events of a store.
  init(epoch: String?, bytes: Int, store: HistoryStore?) {
    let recovered = store?.recovered
    self.store = store
    self.epoch = recovered?.epoch ?? epoch ?? EventID.newEpoch()
    let events = recovered?.events ?? []
    log = EventLog(
      byteCapacity: bytes, entryCapacity: max(1, bytes / Self.minimumEventBytes),
      baseID: events.first.map { $0.sequence - 1 } ?? recovered?.lastSequence ?? 0)
    log.append(contentsOf: events.map { EventLog.Entry($0) })
  }

  /// The number of the last visible event.
  package var end: UInt64 { max(log.newestID ?? 0, store?.visibleEnd ?? 0) }

  /// The id of the oldest event that can be replayed from memory; nil when there is none.
  package var oldest: EventID? { log.oldestID.map { EventID(epoch: epoch, sequence: $0) } }

  /// Returns the number in an id of this history; nil for any other text.
  package func sequence(of text: String) -> UInt64? {
    guard let id = EventID(text), id.epoch == epoch else { return nil }
    return id.sequence
  }

  /// Returns the position after the event with this id; nil when the id is of another history or too old.
  package func resume(after text: String) -> EventLog.Cursor? {
    guard let sequence = sequence(of: text), case .at(let cursor) = log.cursor(after: sequence) else { return nil }
    return cursor
  }

  /// Whether the log has lost an event after this number.
  func isTooOld(_ sequence: UInt64) -> Bool {
    if case .tooOld = log.cursor(after: sequence) { true } else { false }
  }

  /// The selection of a client that knows the state before the first reading: it misses events only.
  package func withoutInitialEntry(_ selection: EventLog.Selection) -> EventLog.Selection {
    guard store != nil else { return selection }
    var selection = selection
    selection.kinds &= ~Self.initialMask
    return selection
  }

  /// The data of the event `gap` for a client that continues after an id, after some other members.
  package func gap(from known: String, _ before: [JSON.Member] = []) -> JSON {
    .object(
      before + [
        JSON.Member(name: "from", value: .string(known)),
        JSON.Member(name: "oldest", value: .text(oldest?.description)),
      ])
  }

  /// Reads the events after a number.
  ///
  /// - Parameters:
  ///   - sequence: the number.
  ///   - limit: the bytes of frames at which the answer ends; it has at least one event if there is one.
  ///   - completion: receives the answer exactly once, on any thread.
  package func read(after sequence: UInt64, limit: Int, _ completion: @escaping @Sendable (Batch) -> Void) {
    let recent = log.entries(after: sequence, withoutInitialEntry(EventLog.Selection()), first: Self.entriesPerRead)
    if recent.isWhole, let first = recent.entries.first {
      var size = 0
      let found = recent.entries.prefix { entry in
        size += entry.bytes.count
        return size <= limit || entry.id == first.id
      }
      return completion(.events(found.map { ($0.id, Array($0.bytes[$0.data])) }))
    }
    guard end > sequence else { return completion(.end) }
    guard let store else { return completion(.missing(through: log.oldestID.map { $0 - 1 } ?? end)) }
    store.page(after: sequence, limit: limit) { [weak self] result in
      switch result {
      case .success(.events(let events)): completion(.events(events.map { ($0.sequence, Array($0.body[$0.data])) }))
      case .success(.missing(let through)): completion(.missing(through: through))
      // Everything visible is committed, unless the disk is not waited for: retention has deleted the events then.
      case .success(.end):
        guard let self, case .keeping = store.state, self.end > sequence else { return completion(.failed) }
        completion(.missing(through: store.visibleEnd))
      case .failure: completion(.failed)
      }
    }
  }
}
