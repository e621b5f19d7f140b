package import Events
internal import History
internal import NetworkReachability
package import Webhooks

extension EventHistory: WebhookEventSource {
  /// Reads the visible events after a number.
  package func read(after sequence: UInt64, limit: Int, _ completion: @escaping @Sendable (WebhookBatch) -> Void) {
    read(after: sequence, limit: limit) { [store] (batch: Batch) in
      switch batch {
      case .events(let found):
        let events = found.compactMap { number, data -> WebhookEvent? in
          guard let event = Event(data: data) else { return nil }
          return WebhookEvent(
            sequence: number, time: event.time, type: event.type.name, subject: event.subject, state: event.state,
            target: event.target, labels: event.labels, data: data,
            age: store?.age(of: number, at: event.time.microseconds) ?? .zero)
        }
        completion(.events(events, through: found.last?.sequence ?? sequence))
      case .missing(let through): completion(.missing(through: through))
      case .end, .failed: completion(.failed)
      }
    }
  }
}
