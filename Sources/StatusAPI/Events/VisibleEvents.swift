package import EventStreams
package import History

/// The visible events: those in memory first, so that a full disk delays nothing, then those of the store.
package final class VisibleEvents: Sendable {
  /// What a read finds.
  package enum Batch: Sendable {
    /// The next events, at least one: numbers and frames of the event stream.
    case events([(sequence: UInt64, frame: [UInt8])])
    /// The next events, up to this number, are not kept any longer.
    case missing(through: UInt64)
    /// There are none.
    case end
    /// The store cannot be read now.
    case failed
  }

  /// Entries of the log that are examined per read; their bytes are limited too.
  private static let entriesPerRead = 256

  private let log: EventLog
  private let store: HistoryStore?

  package init(_ log: EventLog, _ store: HistoryStore?) {
    self.log = log
    self.store = store
  }

  /// The number of the last visible event.
  package var end: UInt64 { max(log.newestID ?? 0, store?.visibleEnd ?? 0) }

  /// Reads the events after a number.
  ///
  /// - Parameters:
  ///   - sequence: the number.
  ///   - limit: the bytes of frames at which the answer ends; it has at least one event if there is one.
  ///   - completion: receives the answer exactly once, on any thread.
  package func read(after sequence: UInt64, limit: Int, _ completion: @escaping @Sendable (Batch) -> Void) {
    let recent = log.entries(after: sequence, first: Self.entriesPerRead)
    if recent.isWhole, let first = recent.entries.first {
      var size = 0
      let found = recent.entries.prefix { entry in
        size += entry.bytes.count
        return size <= limit || entry.id == first.id
      }
      return completion(.events(found.map { ($0.id, $0.bytes) }))
    }
    guard end > sequence else { return completion(.end) }
    guard let store else {
      return completion(.missing(through: log.oldestID.map { $0 - 1 } ?? end))
    }
    store.page(after: sequence, limit: limit) { [weak self] result in
      switch result {
      case .success(.events(let events)): completion(.events(events.map { ($0.sequence, $0.body) }))
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
