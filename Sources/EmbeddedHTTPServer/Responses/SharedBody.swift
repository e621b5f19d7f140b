internal import Locks

/// One encoded answer, status 200, that any number of connections send without copying it.
///
/// libmicrohttpd counts references to a response, so that a newer one may take its place while connections still send
/// this one.
public final class SharedBody: Sendable {
  /// The header fields, fixed.
  public let headers: HTTPHeaders
  /// The body, fixed.
  public let bytes: [UInt8]

  private let made = Locked<[String: ResponseHandle]>([:])

  /// An answer of these headers and bytes.
  public init(headers: HTTPHeaders, bytes: [UInt8]) {
    self.headers = headers
    self.bytes = bytes
  }

  /// The library's response, made on first use; nil when memory is out.
  ///
  /// With `strictTransport` it is one of its own, so that a document that is served over TLS, too, needs no copy a request
  /// there either.
  func response(strictTransport: String? = nil) -> ResponseHandle? {
    made.withLock { made in
      let key = strictTransport ?? ""
      if let made = made[key] { return made }
      var headers = headers
      if let strictTransport { headers["Strict-Transport-Security"] = strictTransport }
      made[key] = ResponseHandle(bytes: bytes, headers: headers)
      return made[key]
    }
  }
}
