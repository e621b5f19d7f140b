public import ReachabilityModel

/// One entry of the delivery log: an attempt, or messages that are given up.
public struct WebhookDeliveryRecord: Sendable, Equatable {
  /// The results of an attempt.
  public enum Result: String, Sendable, CaseIterable {
    /// The receiver answered with 2xx.
    case delivered
    /// There was no answer, or one that asks for a repetition; the message is sent again.
    case failed
    /// The receiver rejected the message; it is sent again a few times.
    case rejected
    /// The receiver rejected the message repeatedly; it is not sent again, except by a client's request.
    case deadLetter
    /// The receiver answered with 410; the webhook is paused.
    case gone
    /// Events were dropped, because they were older than `maxAge` or no longer stored.
    case dropped
  }

  /// The id of the message.
  public var message: String
  /// When the attempt ended.
  public var time: Timestamp
  /// Its result.
  public var result: Result
  /// The duration of the attempt; zero without one.
  public var duration: Duration
  /// The status of the answer; nil without an answer.
  public var status: Int?
  /// Why there is no answer, or what was dropped; nil where the status says it.
  public var detail: String?

  /// Creates an entry.
  public init(
    message: String, time: Timestamp, result: Result, duration: Duration = .zero, status: Int? = nil,
    detail: String? = nil
  ) {
    self.message = message
    self.time = time
    self.result = result
    self.duration = duration
    self.status = status
    self.detail = detail
  }
}
