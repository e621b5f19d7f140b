/// Where webhooks read the events: memory first, then the store.
public protocol WebhookEventSource: AnyObject, Sendable {
  /// The epoch of the numbers.
  var epoch: String { get }
  /// The number of the last visible event.
  var end: UInt64 { get }

  /// Reads the visible events after a number.
  ///
  /// - Parameters:
  ///   - sequence: the number; there are visible events after it.
  ///   - limit: the bytes of data at which the answer ends; it has at least one event.
  ///   - completion: receives the answer exactly once, on any thread; it does not block.
  func read(
    after sequence: UInt64, limit: Int, _ completion: @escaping @Sendable (WebhookBatch) -> Void)
}

/// Where the states of webhooks and the delivery log are stored.
public protocol WebhookStorage: AnyObject, Sendable {
  /// Reads the states of all webhooks; nil when they cannot be read now.
  func load(_ completion: @escaping @Sendable ([String: WebhookPosition]?) -> Void)

  /// Stores states and appends entries to the log, in one transaction; false when that failed.
  func save(
    _ positions: [String: WebhookPosition], _ records: [WebhookLogEntry],
    _ completion: @escaping @Sendable (Bool) -> Void)

  /// Reads the log of a webhook, the newest entries first; nil when it cannot be read now.
  func log(
    of id: String, before entry: Int64?, limit: Int,
    _ completion: @escaping @Sendable ([WebhookLogEntry]?) -> Void)
}

/// One entry of the delivery log, and its webhook.
public struct WebhookLogEntry: Sendable, Equatable {
  /// The number of the entry; 0 before it is stored.
  public var number: Int64
  /// The id of the webhook.
  public var webhook: String
  /// The entry.
  public var record: WebhookDeliveryRecord

  /// Creates an entry.
  public init(number: Int64 = 0, webhook: String, record: WebhookDeliveryRecord) {
    self.number = number
    self.webhook = webhook
    self.record = record
  }
}
