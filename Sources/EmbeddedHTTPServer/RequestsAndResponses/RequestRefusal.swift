/// The reason why this module answers a request itself and does not call the handler.
public struct RequestRefusal: Sendable, Equatable {
  /// The rule that was broken; an open set, because later versions may add rules.
  public struct Rule: RawRepresentable, Sendable, Hashable {
    /// The rule's name in lowerCamelCase.
    public var rawValue: String
    /// Makes a rule from its name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The request line is malformed or contains invalid bytes.
    public static let requestLine = Rule(rawValue: "requestLine")
    /// The request target has a form that this server does not support, or a malformed percent sequence.
    public static let target = Rule(rawValue: "target")
    /// A header field's name or value is malformed.
    public static let header = Rule(rawValue: "header")
    /// `Host` is missing, repeated or malformed.
    public static let host = Rule(rawValue: "host")
    /// `Content-Length` and `Transfer-Encoding` make the body's length ambiguous.
    public static let framing = Rule(rawValue: "framing")
    /// The request has a `Transfer-Encoding`: a body must have a `Content-Length`.
    public static let lengthRequired = Rule(rawValue: "lengthRequired")
    /// The body is longer than the limit.
    public static let bodyTooLarge = Rule(rawValue: "bodyTooLarge")
    /// The request's head is longer than the limit.
    public static let headTooLarge = Rule(rawValue: "headTooLarge")
    /// The request was not complete in time.
    public static let tooSlow = Rule(rawValue: "tooSlow")
    /// Too many connections from the client's address are open.
    public static let tooManyConnections = Rule(rawValue: "crowded")
    /// Too many connections or streams are open.
    public static let overloaded = Rule(rawValue: "overloaded")
    /// The server is about to stop.
    public static let draining = Rule(rawValue: "draining")
    /// A handler promised a response and gave none.
    public static let noReply = Rule(rawValue: "noReply")
  }

  /// The rule that was broken.
  public var rule: Rule
  /// The HTTP status of the response.
  public var status: Int
  /// What was wrong, as text for the client.
  public var detail: String
  /// Seconds after which another attempt makes sense; nil if it never does.
  public var retryAfterSeconds: Int?

  /// Makes a refusal.
  public init(rule: Rule, status: Int, detail: String, retryAfterSeconds: Int? = nil) {
    self.rule = rule
    self.status = status
    self.detail = detail
    self.retryAfterSeconds = retryAfterSeconds
  }

  /// The refusal as plain text, for a server without a renderer of its own.
  public static func plainText(_ refusal: RequestRefusal, of request: HTTPRequest?) -> HTTPResponse {
    HTTPResponse(
      status: refusal.status, headers: ["Content-Type": "text/plain; charset=utf-8"],
      body: .bytes(Array((refusal.detail + "\n").utf8)))
  }
}

/// Renders the responses to requests that the server refuses itself, on the server's thread; it must not block.
///
/// The request is nil unless its head was complete. Its values are as received: the head may be the reason for the
/// refusal.
public typealias HTTPRefusalRenderer = @Sendable (RequestRefusal, HTTPRequest?) -> HTTPResponse

extension RequestRefusal {
  static func bad(_ rule: Rule, _ detail: String) -> RequestRefusal {
    RequestRefusal(rule: rule, status: 400, detail: detail)
  }

  static func overloaded(_ detail: String) -> RequestRefusal {
    RequestRefusal(rule: .overloaded, status: 503, detail: detail, retryAfterSeconds: Limits.retryAfterSeconds)
  }

  static let lengthRequired = RequestRefusal(
    rule: .lengthRequired, status: 411,
    detail: "Transfer-Encoding is not supported; send the body with Content-Length")

  static let lengthTooLarge = RequestRefusal(
    rule: .bodyTooLarge, status: 413, detail: "Content-Length is larger than the limit of request bodies")

  static let draining = RequestRefusal(
    rule: .draining, status: 503, detail: "the server is shutting down", retryAfterSeconds: Limits.retryAfterSeconds)

  static func bodyTooLarge(limit: Int) -> RequestRefusal {
    RequestRefusal(rule: .bodyTooLarge, status: 413, detail: "the request body exceeds \(limit) bytes")
  }

  static let headTooLarge = RequestRefusal(
    rule: .headTooLarge, status: 431,
    detail:
      "the request head exceeds \(Limits.connectionMemory) bytes, which include the overhead of each header field and "
      + "query parameter; send fewer or shorter ones")

  static let tooSlow = RequestRefusal(
    rule: .tooSlow, status: 408, detail: "the request was incomplete after its time limit")

  static let displaced = RequestRefusal(
    rule: .tooSlow, status: 408,
    detail: "the memory for requests is used up, and this one was incomplete for the longest time; send it faster")

  static func tooManyConnections(limit: Int) -> RequestRefusal {
    RequestRefusal(
      rule: .tooManyConnections, status: 429, detail: "more than \(limit) connections from this client address",
      retryAfterSeconds: Limits.retryAfterSeconds)
  }

  static let noReply = RequestRefusal(rule: .noReply, status: 500, detail: "the request handler returned no response")
}
