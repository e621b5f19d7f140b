/// Why this room answers a request itself instead of handing it to the handler.
public struct RequestRefusal: Sendable, Equatable {
  /// The rule that was broken; open, because a later version may know more.
  public struct Rule: RawRepresentable, Sendable, Hashable {
    /// The rule's name in lowerCamelCase.
    public var rawValue: String
    /// A rule by name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The request line is malformed or holds bytes that must not be there.
    public static let requestLine = Rule(rawValue: "requestLine")
    /// The request target has no form this server answers, or a malformed percent sequence.
    public static let target = Rule(rawValue: "target")
    /// A header field's name or value is malformed.
    public static let header = Rule(rawValue: "header")
    /// `Host` is missing, repeated or malformed.
    public static let host = Rule(rawValue: "host")
    /// `Content-Length` and `Transfer-Encoding` leave the body's length in doubt.
    public static let framing = Rule(rawValue: "framing")
    /// The request has a `Transfer-Encoding`: a body must have a `Content-Length`.
    public static let lengthRequired = Rule(rawValue: "lengthRequired")
    /// The body is longer than this server reads.
    public static let bodyTooLarge = Rule(rawValue: "bodyTooLarge")
    /// The request's head is longer than this server reads.
    public static let headTooLarge = Rule(rawValue: "headTooLarge")
    /// The request was not complete in time.
    public static let tooSlow = Rule(rawValue: "tooSlow")
    /// Too many connections from the client's address are open.
    public static let tooManyConnections = Rule(rawValue: "crowded")
    /// Too many connections or streams are open.
    public static let overloaded = Rule(rawValue: "overloaded")
    /// The server is about to stop.
    public static let draining = Rule(rawValue: "draining")
    /// A handler promised an answer and gave none.
    public static let noReply = Rule(rawValue: "noReply")
  }

  /// The rule that was broken.
  public var rule: Rule
  /// The HTTP status to answer with.
  public var status: Int
  /// What was wrong, for the client to read.
  public var detail: String
  /// Seconds after which another attempt makes sense, when one does.
  public var retryAfterSeconds: Int?

  /// A refusal.
  public init(rule: Rule, status: Int, detail: String, retryAfterSeconds: Int? = nil) {
    self.rule = rule
    self.status = status
    self.detail = detail
    self.retryAfterSeconds = retryAfterSeconds
  }

  /// The refusal as plain text: what a server answers that was given no rendering of its own.
  public static func plainText(_ refusal: RequestRefusal, of request: HTTPRequest?) -> HTTPResponse {
    HTTPResponse(
      status: refusal.status, headers: ["Content-Type": "text/plain; charset=utf-8"],
      body: .bytes(Array((refusal.detail + "\n").utf8)))
  }
}

/// Renders what a server refuses by itself, on the server's thread; it must not block.
///
/// The request is there once its head was complete. Its values are as they were sent: the head may be what is refused.
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
    detail: "Transfer-Encoding is not supported; send the body with a Content-Length.")

  static let lengthTooLarge = RequestRefusal(
    rule: .bodyTooLarge, status: 413, detail: "Content-Length is larger than anything this server reads.")

  static let draining = RequestRefusal(
    rule: .draining, status: 503, detail: "The server is about to stop.", retryAfterSeconds: Limits.retryAfterSeconds)

  static func bodyTooLarge(limit: Int) -> RequestRefusal {
    RequestRefusal(rule: .bodyTooLarge, status: 413, detail: "The request body exceeds \(limit) bytes.")
  }

  static let headTooLarge = RequestRefusal(
    rule: .headTooLarge, status: 431,
    detail:
      "The request's head does not fit into \(Limits.connectionMemory) bytes, of which each field and parameter takes "
      + "some besides its own; send fewer or shorter ones.")

  static let tooSlow = RequestRefusal(rule: .tooSlow, status: 408, detail: "The request was not complete in time.")

  static func tooManyConnections(limit: Int) -> RequestRefusal {
    RequestRefusal(
      rule: .tooManyConnections, status: 429, detail: "More than \(limit) connections come from your address.",
      retryAfterSeconds: Limits.retryAfterSeconds)
  }

  static let noReply = RequestRefusal(rule: .noReply, status: 500, detail: "The request could not be answered.")
}
