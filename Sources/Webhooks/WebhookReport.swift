public import ReachabilityModel

/// The state of a webhook as it is reported; it contains no secret.
public struct WebhookReport: Sendable {
  /// What a webhook does.
  public enum State: String, Sendable, CaseIterable {
    /// The route to its receiver, or its stored position, is not known yet.
    case starting
    /// Every event is delivered.
    case idle
    /// A request is in progress.
    case sending
    /// It waits before the next attempt.
    case retrying
    /// It waits for a route to its receiver.
    case held
    /// Another replica of the fleet sends it.
    case standby
    /// It sends nothing, at the request of a client or of the receiver.
    case paused
  }

  /// Its settings.
  public var definition: WebhookDefinition
  /// What it does.
  public var state: State
  /// Why it is paused; nil if it is not.
  public var pause: WebhookPause?
  /// The id of the last event that is delivered or given up; nil before the first.
  public var position: String?
  /// The number of events after it, including those that the filter excludes.
  public var pending: UInt64
  /// The age of the oldest event to send; nil for none.
  public var oldest: Duration?
  /// The failed attempts for the next message.
  public var failures: Int
  /// When the next attempt is made; nil when none is planned.
  public var nextAttempt: Timestamp?
  /// When a message was last delivered, since the start of the process.
  public var lastDelivery: Timestamp?
  /// The last attempt, if it failed.
  public var lastFailure: WebhookDeliveryRecord?
  /// The number of entries of the log since the start of the process, by result.
  public var totals: [WebhookDeliveryRecord.Result: Int]
}

/// What a client may request for a webhook.
public enum WebhookCommand: Sendable, Equatable {
  /// Send nothing until it is resumed.
  case pause
  /// Send again, the next message immediately.
  case resume
  /// Send a test message once.
  case test
  /// Send an event once more, by its id.
  case redeliver(event: String)
}

/// The result of a command.
public enum WebhookCommandResult: Sendable {
  /// It is carried out.
  case done(WebhookReport)
  /// The attempt was made.
  case attempted(WebhookDeliveryRecord)
  /// No attempt was made, because there is no route to the receiver.
  case noRoute
  /// No attempt was made, because too many wait.
  case busy
  /// The event is not stored.
  case missingEvent
  /// There is no webhook with this id.
  case missing
}
