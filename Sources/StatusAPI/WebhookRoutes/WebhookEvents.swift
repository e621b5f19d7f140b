internal import History
internal import Webhooks

/// The visible events for webhooks.
final class WebhookEvents: WebhookEventSource {
  let epoch: String
  private let events: VisibleEvents

  init(epoch: String, _ events: VisibleEvents) {
    self.epoch = epoch
    self.events = events
  }

  var end: UInt64 { events.end }

  func read(after sequence: UInt64, limit: Int, _ completion: @escaping @Sendable (WebhookBatch) -> Void) {
    events.read(after: sequence, limit: limit) { batch in
      switch batch {
      case .events(let frames):
        guard let last = frames.last else { return completion(.failed) }
        let events = frames.compactMap { WebhookEvent(sequence: $0.sequence, frame: $0.frame) }
        completion(.events(events, through: last.sequence))
      case .missing(let through): completion(.missing(through: through))
      case .end, .failed: completion(.failed)
      }
    }
  }
}
