internal import History
internal import ReachabilityModel
internal import Webhooks

/// The visible events for webhooks.
final class WebhookEvents: WebhookEventSource {
  let epoch: String
  private let events: VisibleEvents
  private let store: HistoryStore

  init(epoch: String, _ events: VisibleEvents, _ store: HistoryStore) {
    self.epoch = epoch
    self.events = events
    self.store = store
  }

  var end: UInt64 { events.end }

  func read(after sequence: UInt64, limit: Int, _ completion: @escaping @Sendable (WebhookBatch) -> Void) {
    events.read(after: sequence, limit: limit) { [store] batch in
      switch batch {
      case .events(let frames):
        guard let last = frames.last else { return completion(.failed) }
        let events = frames.compactMap { frame -> WebhookEvent? in
          guard var event = WebhookEvent(sequence: frame.sequence, frame: frame.frame) else { return nil }
          event.age = store.age(of: event.sequence, at: event.time.microseconds)
          return event
        }
        completion(.events(events, through: last.sequence))
      case .missing(let through): completion(.missing(through: through))
      case .end, .failed: completion(.failed)
      }
    }
  }
}
