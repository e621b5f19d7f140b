internal import EventLoop

/// What was received of a connection's current request, and what is kept of the one before.
struct CurrentRequest {
  /// Its number on the connection, so that a late response does not answer the next request.
  private(set) var number: UInt64 = 0
  var target = ""
  /// The request, once its head was read; nil if the head is repeated, and during a stream, which lives long.
  var request: HTTPRequest?
  /// When the head was complete; read only if responses are observed.
  var headTime = MonotonicInstant(nanoseconds: 0)
  /// The last accepted head: clients mostly repeat the same bytes on a connection.
  var cachedHead: CachedRequestHead?

  /// The response has no body.
  var isHead: Bool { request?.method == "HEAD" }

  /// The client knows no chunks.
  var isHTTP10: Bool { request?.version == "HTTP/1.0" }

  /// The request is over, answered or not.
  mutating func end() {
    number += 1
    request = nil
  }
}
