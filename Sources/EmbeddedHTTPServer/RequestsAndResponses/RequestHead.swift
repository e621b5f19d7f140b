internal import Glibc

/// A request's head as libmicrohttpd read it.
struct RequestHead {
  var method: String
  var version: String
  var headers: HTTPHeaders
  /// No byte of the head is hidden: it has no folded line and no NUL.
  var isWellFormed: Bool
}

/// A head that passed validation, and its values.
///
/// The same bytes on the same connection have the same values, and need not be parsed and validated again.
final class CachedRequestHead {
  private let bytes: [UInt8]
  let request: HTTPRequest
  /// The cached response, valid until something changes.
  var answer: CachedResponse?

  init(_ bytes: UnsafeRawBufferPointer, _ request: HTTPRequest) {
    unsafe self.bytes = Array(bytes)
    self.request = request
  }

  /// Whether the head consists of these bytes, compared after libmicrohttpd has replaced separators with NUL.
  func isOf(_ other: UnsafeRawBufferPointer) -> Bool {
    guard other.count == bytes.count, let start = other.baseAddress else { return false }
    return unsafe bytes.withUnsafeBytes { unsafe memcmp($0.baseAddress ?? start, start, other.count) == 0 }
  }
}

extension HTTPServerContext {
  /// The values of a head as a request, valid or not.
  func makeRequest(_ head: RequestHead, target: String, _ parts: RequestTarget?, peer: String) -> HTTPRequest {
    var request = HTTPRequest(
      method: head.method, target: target, parts: parts, version: head.version, headers: head.headers, body: [],
      peer: peer, isLoopbackListener: isLoopbackListener)
    request.isUnixListener = isUnixListener
    request.headers.trimValues()
    if let authority = parts?.authority { request.headers["Host"] = authority }
    return request
  }
}
