internal import EventStreams
internal import History
internal import Webhooks

/// The visible events for webhooks: the event log in memory first, so that a full disk delays nothing, then the store.
final class WebhookEvents: WebhookEventSource {
  /// Entries of the log that are examined per read; their bytes are limited too.
  private static let entriesPerRead = 256

  let epoch: String
  private let log: EventLog
  private let store: HistoryStore

  init(epoch: String, log: EventLog, store: HistoryStore) {
    self.epoch = epoch
    self.log = log
    self.store = store
  }

  var end: UInt64 { max(log.newestID ?? 0, store.visibleEnd) }

  func read(after sequence: UInt64, limit: Int, _ completion: @escaping @Sendable (WebhookBatch) -> Void) {
    let recent = log.entries(after: sequence, first: Self.entriesPerRead)
    if recent.isWhole, let first = recent.entries.first {
      var size = 0
      let found = recent.entries.prefix { entry in
        size += entry.bytes.count
        return size <= limit || entry.id == first.id
      }
      return completion(Self.batch(found.map { ($0.id, $0.bytes) }))
    }
    store.page(after: sequence, limit: limit) { [weak self] result in
      switch result {
      case .success(.events(let events)): completion(Self.batch(events.map { ($0.sequence, $0.body) }))
      case .success(.missing(let through)): completion(.missing(through: through))
      // Everything visible is committed, unless the disk is not waited for: retention has deleted the events then.
      case .success(.end):
        guard let self, self.store.isKeeping, self.end > sequence else { return completion(.failed) }
        completion(.missing(through: self.store.visibleEnd))
      case .failure: completion(.failed)
      }
    }
  }

  private static func batch(_ frames: [(sequence: UInt64, frame: [UInt8])]) -> WebhookBatch {
    guard let last = frames.last else { return .failed }
    let events = frames.compactMap { WebhookEvent(sequence: $0.sequence, frame: $0.frame) }
    return .events(events, through: last.sequence)
  }
}

extension HistoryStore {
  /// Whether events are committed before they are visible.
  fileprivate var isKeeping: Bool {
    if case .keeping = state { true } else { false }
  }
}
