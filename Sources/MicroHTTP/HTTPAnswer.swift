/// What was answered to what, for whoever counts or logs answers.
///
/// Told when the answer is handed over for sending, not when the client has it.
public struct HTTPAnswer: Sendable {
  /// The request; nil when its head did not pass the guard.
  public var request: HTTPRequest?
  /// The request target as sent.
  public var target: String
  /// Address and port of the client.
  public var peer: String
  /// The answer.
  public var response: HTTPResponse
  /// Nanoseconds since the request's head was complete.
  public var nanoseconds: UInt64
}

/// Hears of every answer, on the server's thread; it must not block.
public typealias HTTPAnswerObserver = @Sendable (HTTPAnswer) -> Void
