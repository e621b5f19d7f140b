internal import Locks

/// An encoded response with status 200 that any number of connections send without a copy.
///
/// libmicrohttpd counts references to a response, so that a newer one may replace it while connections still send this
/// one.
public final class SharedResponseBody: Sendable {
  /// The header fields, immutable.
  public let headers: HTTPHeaders
  /// The body, immutable.
  public let bytes: [UInt8]

  private let made = Locked<[String: MHDResponse]>([:])

  /// Makes a response of these header fields and bytes.
  public init(headers: HTTPHeaders, bytes: [UInt8]) {
    self.headers = headers
    self.bytes = bytes
  }

  /// The library's response, made on first use; nil if memory is exhausted.
  ///
  /// There is a separate one with `strictTransport`, so that a document that is also served over TLS needs no copy per
  /// request there either.
  func response(strictTransport: String? = nil) -> MHDResponse? {
    made.withLock { made in
      let key = strictTransport ?? ""
      if let made = made[key] { return made }
      var headers = headers
      if let strictTransport { headers["Strict-Transport-Security"] = strictTransport }
      made[key] = MHDResponse(bytes: bytes, headers: headers)
      return made[key]
    }
  }
}
