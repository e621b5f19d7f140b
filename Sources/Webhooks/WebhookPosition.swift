public import ReachabilityModel

/// The stored state of a webhook: everything that a restart needs.
public struct WebhookPosition: Sendable, Equatable {
  /// The epoch of the number.
  public var epoch: String
  /// Every event up to this number is delivered, excluded by the filter, given up, or part of ``gap``.
  public var settled: UInt64
  /// The failed attempts for the next message.
  public var failures = 0
  /// The attempts for the next message that the receiver rejected.
  public var rejections = 0
  /// The time before which no request is sent, from `Retry-After`; nil for none.
  public var notBefore: Timestamp?
  /// Why no messages are sent; nil if they are.
  public var pause: WebhookPause?
  /// The missing events that must be reported to the receiver; nil for none.
  public var gap: WebhookGap?
}

/// Why a webhook sends no messages.
public enum WebhookPause: String, Sendable, CaseIterable {
  /// A client has paused it.
  case requested
  /// The receiver answered with 410.
  case gone
}
