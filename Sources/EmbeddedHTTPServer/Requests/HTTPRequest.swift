/// One item of a query string, percent-decoded.
public struct QueryItem: Sendable, Equatable {
  /// The part before the first `=`.
  public var name: String
  /// The part after the first `=`, empty when there is none.
  public var value: String

  /// A query item.
  public init(name: String, value: String) {
    self.name = name
    self.value = value
  }
}

/// A complete request that passed the guard: the values say what the bytes on the wire said, and nothing is missing.
///
/// Those that are refused are shown as they came, to ``HTTPRefusalRenderer`` and ``HTTPAccessObserver`` only.
public struct HTTPRequest: Sendable {
  /// The method, case-sensitive (RFC 9110, section 9.1).
  public var method: String
  /// The request target as sent (RFC 9112, section 3.2).
  public var target: String
  /// The target's path, still percent-encoded; `*` for `OPTIONS *`.
  public var path: String
  /// The target's query, decoded, in order, repeats included.
  public var query: [QueryItem]
  /// `HTTP/1.1` or `HTTP/1.0`.
  public var version: String
  /// The header fields; for an absolute target `Host` is that of the target (RFC 9112, section 3.2.2).
  public var headers: HTTPHeaders
  /// The whole body.
  public var body: [UInt8]
  /// Address and port of the client; `unix:` and its user's number for one of a Unix-domain socket.
  public var peer: String
  /// Whether the request came in by a socket that only this machine can connect to.
  public var isLoopbackListener: Bool
  /// Whether that is a Unix-domain socket, which no browser can connect to.
  public var isUnixListener = false

  /// A request as a test or a front end would make it; `target` is split into path and query.
  public init(
    method: String = "GET", target: String = "/", version: String = "HTTP/1.1", headers: HTTPHeaders = HTTPHeaders(),
    body: [UInt8] = [], peer: String = "127.0.0.1:0", isLoopbackListener: Bool = true
  ) {
    self.init(
      method: method, target: target, parts: RequestTarget(target), version: version, headers: headers, body: body,
      peer: peer, isLoopbackListener: isLoopbackListener)
  }

  /// A request whose target was taken apart already.
  init(
    method: String, target: String, parts: RequestTarget?, version: String, headers: HTTPHeaders, body: [UInt8],
    peer: String, isLoopbackListener: Bool
  ) {
    self.method = method
    self.target = target
    self.path = parts?.path ?? target
    self.query = parts?.query ?? []
    self.version = version
    self.headers = headers
    self.body = body
    self.peer = peer
    self.isLoopbackListener = isLoopbackListener
  }

  /// Decodes percent sequences strictly (RFC 3986, section 2.1).
  ///
  /// Nil when a sequence is malformed, when the result is not UTF-8, or when it holds a NUL.
  public static func decodePercent(_ text: some StringProtocol) -> String? {
    PercentCoding.decode(text.utf8, plusIsSpace: false)
  }
}
