/// The bounds of this module, with unit and reason.
enum Limits {
  /// The delays between the attempts to deliver a message, then the last one repeatedly: quick after a restart of the
  /// receiver, and no load on a receiver that is down for hours.
  static let retryDelays: [Duration] = [
    .seconds(1), .seconds(5), .seconds(15), .seconds(30), .seconds(60), .seconds(120), .seconds(300),
  ]

  /// The random deviation of a delay, as a fraction: machines that failed together must not retry together.
  static let retryDeviation = 0.2

  /// The longest `Retry-After` that is obeyed: a receiver cannot stop deliveries for longer.
  static let longestRetryAfter = Duration.seconds(3_600)

  /// The shortest time between two attempts after a failure when the route changes: a route that flaps must not become a
  /// stream of requests.
  static let routeRetryPause = Duration.seconds(1)

  /// Attempts for a message that the receiver rejects (3xx, 4xx), before the next message is sent: about 50 s.
  static let rejections = 5

  /// Bytes of events in memory for each webhook, as many as one read from the store.
  static let bufferBytes = 262_144

  /// The time after which a failed read of the store is repeated.
  static let readRetry = Duration.seconds(1)

  /// The longest time before the position of a webhook is stored while its filter skips events; retention must not take
  /// skipped events for undelivered ones.
  static let skipSave = Duration.seconds(30)

  /// The time after which the position and the log of a webhook that is not configured any more are deleted: as long as
  /// events are stored.
  static let forgetting = Duration.seconds(7 * 86_400)

  /// The time between two looks for them.
  static let forgettingInterval = Duration.seconds(600)

  /// Requests of clients (test, redeliver) that wait for one webhook: each waits for its response.
  static let manualDeliveries = 4

  /// Bytes of an answer's body that are read: its status is enough, and a receiver must not occupy memory.
  static let answerBytes = 4_096

  /// Rows of the delivery log for each webhook, about 100 bytes each.
  static let loggedDeliveries = 1_000

  /// Rows that the delivery log may have in excess before it is trimmed, so that trimming is rare.
  static let loggedExcess = 100

  /// Rows of the delivery log that wait for the store, about 300 bytes each; beyond it the oldest are dropped.
  static let pendingRecords = 4_096

  /// The longest duration of an attempt that is read from the delivery log, in milliseconds: a day.
  ///
  /// Timeouts are shorter.
  static let loggedMilliseconds: Int64 = 86_400_000

  /// The highest number of failures, rejections or dropped events that is read from the store: a damaged row must not have
  /// one that cannot increase.
  static let storedCount: Int64 = 1 << 40

  /// Bytes of a failure's description that are stored.
  static let detailBytes = 200
}
