/// One item of a query string, percent-decoded.
public struct QueryItem: Sendable, Equatable {
  /// The part before the first `=`.
  public var name: String
  /// The part after the first `=`, empty when there is none.
  public var value: String
}

/// A complete request that passed ``RequestValidator``: its values are exactly what was sent.
///
/// Refused requests are passed as received, to ``HTTPRefusalRenderer`` and ``HTTPAccessObserver`` only.
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
  /// The address and port of the client; `unix:` and its user's number for a client of a Unix-domain socket.
  public var peer: String
  /// Whether the request was received on a socket that only this machine can connect to.
  public var isLoopbackListener: Bool
  /// Whether the request was received on a Unix-domain socket, which no browser can connect to.
  public var isUnixListener = false

  /// Makes a request, as for a test or a front end; `target` is split into path and query.
  public init(
    method: String = "GET", target: String = "/", version: String = "HTTP/1.1", headers: HTTPHeaders = HTTPHeaders(),
    body: [UInt8] = [], peer: String = "127.0.0.1:0", isLoopbackListener: Bool = true
  ) {
    self.init(
      method: method, target: target, parts: RequestTarget(target), version: version, headers: headers, body: body,
      peer: peer, isLoopbackListener: isLoopbackListener)
  }

  /// Makes a request whose target was parsed already.
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
  /// Returns nil if a sequence is malformed, if the result is not UTF-8, or if it contains a NUL.
  public static func decodePercent(_ text: some StringProtocol) -> String? {
    RequestPercentCoding.decode(text.utf8, plusIsSpace: false)
  }
}
