internal import ReachabilityModel

// Inputs, effects and what is reported.
extension WebhookDeliveryState {
  /// The present time: uptime for delays, and wall-clock time.
  struct Moment: Sendable, Equatable {
    var uptime: Duration
    var time: Timestamp
  }

  /// What the caller must do.
  enum Effect: Sendable, Equatable {
    /// Read the events after a number; ``WebhookDeliveryState/received(_:from:_:)`` must follow.
    case read(after: UInt64, number: Int)
    /// Send a message; ``WebhookDeliveryState/finished(_:_:_:)`` with this number must follow.
    case send(WebhookMessage, number: Int)
    /// Cancel the request in progress, which then ends with ``WebhookAttemptOutcome/cancelled`` or its result.
    case cancel(number: Int)
    /// Call ``WebhookDeliveryState/advance(_:)`` at this uptime; replaces an earlier time.
    case wake(at: Duration)
    case save(WebhookPosition)
    /// Append an entry to the delivery log.
    case record(WebhookDeliveryRecord)
    /// Report the result of a client's request; nil when no attempt was made, because there is no route.
    case report(token: Int, WebhookDeliveryRecord?)
    /// Report that the webhook of a client's request was removed.
    case abandon(token: Int)
  }

  enum Activity: Sendable, Equatable {
    case none
    case reading(number: Int)
    case sending(number: Int, WebhookMessage, since: Duration, purpose: Purpose)
  }

  /// Why a message is sent.
  enum Purpose: Sendable, Equatable {
    /// It is the next one.
    case next
    /// A client has requested it, outside the order.
    case requested(token: Int)
  }

  /// A wait before the next attempt.
  struct Wait: Sendable, Equatable {
    var until: Duration
    /// The time that the receiver has demanded, which a change of the route does not shorten.
    var demanded = Duration.zero
  }

  var hasMessage: Bool { position.gap != nil || !buffer.isEmpty }

  /// The number of events after the settled ones, including those that the filter excludes.
  var pending: UInt64 { end - min(end, position.settled) }

  /// The age of the oldest event to send; nil for none.
  func oldestAge(_ now: Moment) -> Duration? { buffer.first.map { age(of: $0, now) } }
}
