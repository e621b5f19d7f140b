internal import NATSClient

extension JetStreamOrderedConsumer {
  /// What changes while it delivers.
  struct State: Sendable {
    /// The number of the server's consumer, from 1; deliveries of earlier ones are ignored.
    var generation = 0
    /// The stream's number from which a new consumer begins.
    var next: UInt64
    /// The last delivery of this consumer.
    var delivered: UInt64 = 0
    /// When something last arrived.
    var activity = ContinuousClock.now
    var subscription: NATSSubscription?
    /// Whether something arrived from this consumer.
    var isHeard = false
    /// When the next attempt may begin, after a refusal.
    var pausedUntil = ContinuousClock.now
    var isCancelled = false
  }
}
