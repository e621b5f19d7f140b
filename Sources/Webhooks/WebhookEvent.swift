public import ReachabilityModel

/// One event of the service as a webhook sends it.
public struct WebhookEvent: Sendable, Equatable {
  /// Its number.
  public var sequence: UInt64
  /// Its id; nil for the epoch and the number.
  public var id: String?
  /// When it happened.
  public var time: Timestamp
  /// `status`, `path`, `interface` or `target`; of a fleet `verdict` or `agent`.
  public var type: String
  /// What it is about: `machine`, `interface:eth0`, `target:db`.
  public var subject: String
  /// The state after it, of this machine or of a registered target; nil for events without one.
  public var state: String?
  /// The id of the registered target that it is about; nil for other events.
  public var target: String?
  /// The labels of the target.
  public var labels: [String: String]
  /// Its data, JSON in UTF-8, as on the event stream.
  public var data: [UInt8]
  /// How long ago it was published, when it was read: the time that the service has run since then.
  public var age: Duration
  /// The uptime when it was read.
  var readAt = Duration.zero

  /// Creates an event.
  public init(
    sequence: UInt64, id: String? = nil, time: Timestamp, type: String, subject: String, state: String? = nil,
    target: String? = nil, labels: [String: String] = [:], data: [UInt8], age: Duration = .zero
  ) {
    self.sequence = sequence
    self.id = id
    self.time = time
    self.type = type
    self.subject = subject
    self.state = state
    self.target = target
    self.labels = labels
    self.data = data
    self.age = age
  }
}

/// Events that a webhook does not receive, and why; the receiver gets one `reachd.gap` event for them.
public struct WebhookGap: Sendable, Equatable {
  /// Why the events are missing.
  public enum Reason: String, Sendable {
    /// They were older than the webhook's `maxAge`.
    case expired
    /// The store no longer has them, or never had them.
    case unavailable
    /// The numbering has begun again, as after a power failure or with another data directory.
    case newEpoch
  }

  /// Why the first of them is missing.
  public var reason: Reason
  /// The id of the last event before them.
  public var after: String
  /// The number of the last of them.
  public var last: UInt64
  /// How many of the events for this webhook are missing; nil when that is not known.
  public var count: Int?
  /// When the gap was detected.
  public var time: Timestamp
}

/// The answer to a read of events.
public enum WebhookBatch: Sendable, Equatable {
  /// The next events in order; every event up to `through` was read.
  case events([WebhookEvent], through: UInt64)
  /// The next events, up to this number, are not available.
  case missing(through: UInt64)
  /// The events cannot be read now.
  case failed
}
