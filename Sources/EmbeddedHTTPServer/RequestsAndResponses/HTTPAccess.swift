/// A request and its response, for metrics and the access log.
///
/// Reported when the response is handed over for sending, not when the client has received it.
public struct HTTPAccess: Sendable {
  /// The request, with the values that the client sent if it was refused; nil when its head was not complete.
  public var request: HTTPRequest?
  /// The request target as sent.
  public var target: String
  /// Address and port of the client.
  public var peer: String
  /// The response.
  public var response: HTTPResponse
  /// Nanoseconds since the request's head was complete.
  public var nanoseconds: UInt64
}

/// Receives every request and its response, on the server's thread; it must not block.
public typealias HTTPAccessObserver = @Sendable (HTTPAccess) -> Void
