public import EventStreams

/// An answer.
///
/// `Content-Length` and `Transfer-Encoding` are made by the server; set here, they are ignored. So is a field that
/// holds a line break.
public struct HTTPResponse: Sendable {
  /// Where the body's bytes come from.
  public enum Body: Sendable {
    /// No body.
    case none
    /// Bytes for this answer only; they are copied once.
    case bytes([UInt8])
    /// Bytes that many answers share, and headers for those that have no others.
    ///
    /// An answer with exactly these headers and status 200 costs no copy.
    case shared(SharedBody)
    /// An endless body that follows an event log.
    case stream(HTTPStream)
  }

  /// The status code, three digits.
  public var status: Int
  /// The header fields; `Connection: close` closes the connection after the answer.
  public var headers: HTTPHeaders
  /// The body.
  public var body: Body
  /// What this response answers, for metrics.
  ///
  /// A route, not a path; it is not sent.
  public var label = ""
  /// The word that the same request gets this answer until something changes; nil for none.
  ///
  /// Only a shared body as it is, with its own headers and status 200, is given again.
  public var cacheValidity: CacheValidity?

  /// An answer.
  public init(status: Int = 200, headers: HTTPHeaders = HTTPHeaders(), body: Body = .none) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// A 200 that costs no copy of its body.
  public init(shared: SharedBody) {
    self.init(status: 200, headers: shared.headers, body: .shared(shared))
  }
}

extension HTTPResponse {
  /// Whether this is a shared body as it is, with no header or status of its own.
  var isBareShared: Bool {
    guard case .shared(let shared) = body else { return false }
    return status == 200 && headers == shared.headers
  }

  /// Bytes of the body as HEAD would tell them; nil for a stream, which has no end.
  public var length: Int? {
    switch body {
    case .none: 0
    case .bytes(let bytes): bytes.count
    case .shared(let shared): shared.bytes.count
    case .stream: nil
    }
  }
}

/// What a handler says to a request.
public enum HTTPReply: Sendable {
  /// The answer.
  case now(HTTPResponse)
  /// The answer comes later.
  ///
  /// The closure is called at once on the server's thread with the promise to fulfil; it must not block. Who wants to know
  /// that no client waits any more uses the promise: ``HTTPPromise/onAbandonment(_:)``.
  case later(@Sendable (HTTPPromise) -> Void)
  /// The answer comes when there is news, or when the wait is over.
  case wait(HTTPWait)
}

/// Answers requests: a plain function, called on the server's thread, that must not block.
public typealias HTTPHandler = @Sendable (HTTPRequest) -> HTTPReply
