public import EventStreams

/// A response.
///
/// The server generates `Content-Length` and `Transfer-Encoding`, and ignores them here. It also ignores a field that
/// contains a line break.
public struct HTTPResponse: Sendable {
  /// The source of the body's bytes.
  public enum Body: Sendable {
    /// No body.
    case none
    /// Bytes for this response only; they are copied once.
    case bytes([UInt8])
    /// Bytes that many responses share, with header fields for responses that set no others.
    ///
    /// A response with exactly these fields and status 200 is sent without a copy.
    case shared(SharedResponseBody)
    /// A body without an end that follows an event log.
    case stream(EventStreamResponse)
  }

  /// The status code, three digits.
  public var status: Int
  /// The header fields; `Connection: close` closes the connection after the response.
  public var headers: HTTPHeaders
  /// The body.
  public var body: Body
  /// The route that this response belongs to, for metrics.
  ///
  /// It is a route and not a path, and it is not sent.
  public var label = ""
  /// How long the same request may get this response again without a call of the handler; nil for never.
  ///
  /// Only a shared body with its own header fields and status 200 is reused.
  public var cacheValidity: ResponseCacheValidity?

  /// Makes a response.
  public init(status: Int = 200, headers: HTTPHeaders = HTTPHeaders(), body: Body = .none) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// Makes a 200 response that sends its body without a copy.
  public init(shared: SharedResponseBody) {
    self.init(status: 200, headers: shared.headers, body: .shared(shared))
  }
}

extension HTTPResponse {
  /// Whether this is a shared body with its own header fields and status 200.
  var isBareShared: Bool {
    guard case .shared(let shared) = body else { return false }
    return status == 200 && headers == shared.headers
  }

  /// The length of the body in bytes, as for HEAD; nil for a stream, which has no end.
  public var length: Int? {
    switch body {
    case .none: 0
    case .bytes(let bytes): bytes.count
    case .shared(let shared): shared.bytes.count
    case .stream: nil
    }
  }
}

/// The result of a handler.
public enum HTTPReply: Sendable {
  /// The response is available now.
  case now(HTTPResponse)
  /// The response is given later.
  ///
  /// The closure is called immediately on the server's thread with the promise to fulfil; it must not block.
  /// ``HTTPPromise/onAbandonment(_:)`` reports that the response is not needed any more.
  case later(@Sendable (HTTPPromise) -> Void)
  /// The response is given when something has changed, or when the wait has timed out.
  case wait(HTTPWait)
}

/// Handles requests: a function called on the server's thread that must not block.
public typealias HTTPHandler = @Sendable (HTTPRequest) -> HTTPReply
