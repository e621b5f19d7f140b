internal import ReachabilityModel

/// The result of one attempt.
enum WebhookAttemptOutcome: Sendable, Equatable {
  /// The receiver answered with this status and, in its field `Retry-After`, with a delay.
  case answered(status: Int, retryAfter: Duration?)
  /// This machine has no route to the receiver; nothing was sent.
  case noRoute
  /// The attempt was cancelled, because its route was lost.
  case cancelled
  /// There was no answer, for this reason.
  case failed(String)
}

/// What follows from an attempt.
enum WebhookDeliveryVerdict: Sendable, Equatable {
  /// The receiver has the message.
  case delivered
  /// The message is sent again later, not before this delay.
  case retry(after: Duration?)
  /// The receiver rejects this message; others may be accepted.
  case rejected
  /// The receiver rejects the signature or the URL, and would reject every other message too.
  case denied
  /// The receiver has responded with 410 (Gone), and gets no further messages.
  case gone
}

/// The rules of delivery, without state.
enum WebhookDeliveryRules {
  /// What follows from the result of an attempt.
  static func verdict(_ outcome: WebhookAttemptOutcome) -> WebhookDeliveryVerdict {
    switch outcome {
    case .answered(200...299, _): .delivered
    case .answered(410, _): .gone
    // The receiver is overloaded, not ready, or fails: every later message would fail in the same manner.
    case .answered(408, let delay), .answered(425, let delay), .answered(429, let delay),
      .answered(500...599, let delay):
      .retry(after: delay.map { min(max(.zero, $0), Limits.longestRetryAfter) })
    // Usually a secret, a token in the URL or the path is wrong on one side.
    case .answered(401, _), .answered(403, _), .answered(404, _): .denied
    case .answered: .rejected
    case .noRoute, .cancelled, .failed: .retry(after: nil)
    }
  }

  /// The delay after a number of failed attempts; `random` is between 0 and 1.
  static func delay(afterFailures failures: Int, random: Double) -> Duration {
    let delay = Limits.retryDelays[min(max(1, failures), Limits.retryDelays.count) - 1]
    return delay * (1 + Limits.retryDeviation * (2 * random - 1))
  }

  /// Reads `Retry-After` (RFC 9110 §10.2.3): seconds, or a date.
  static func retryAfter(_ text: String, now: Timestamp) -> Duration? {
    if !text.isEmpty, text.isDecimal {
      return Int64(text).map { .seconds(min($0, Limits.longestRetryAfter.components.seconds)) }
        ?? Limits.longestRetryAfter
    }
    return Timestamp(httpDate: text, now: now).map { max(.zero, now.duration(to: $0)) }
  }
}
