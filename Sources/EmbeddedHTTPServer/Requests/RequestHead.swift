internal import Glibc

/// A request's head as libmicrohttpd read it.
struct RequestHead {
  var method: String
  var version: String
  var headers: HTTPHeaders
  /// Nothing is hidden in it: no folded line, no NUL.
  var isWellFormed: Bool
}

/// A head that passed the guard, and what it said.
///
/// The same bytes on the same connection say the same, and need not be taken apart and judged again.
final class CachedRequestHead {
  private let bytes: [UInt8]
  let request: HTTPRequest
  /// What it was answered, if that is the answer until something changes.
  var answer: CachedResponse?

  init(_ bytes: UnsafeRawBufferPointer, _ request: HTTPRequest) {
    unsafe self.bytes = Array(bytes)
    self.request = request
  }

  /// Whether these are its bytes, as libmicrohttpd left them.
  func isOf(_ other: UnsafeRawBufferPointer) -> Bool {
    guard other.count == bytes.count, let start = other.baseAddress else { return false }
    return unsafe bytes.withUnsafeBytes { unsafe memcmp($0.baseAddress ?? start, start, other.count) == 0 }
  }
}
