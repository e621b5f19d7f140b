/// A response that waits for a change, with a timeout.
///
/// A waiting request uses its connection and the objects that `begin` retains, and no thread.
public struct HTTPWait: Sendable {
  /// The longest wait.
  public var limit: Duration
  /// Makes the response if the wait times out, or if the server is about to stop.
  public var expired: @Sendable () -> HTTPResponse
  /// Begins the wait, immediately on the server's thread; the promise must be fulfilled when there is a change.
  ///
  /// The returned closure ends the wait. It is called once, on the server's thread, when the response was given, the
  /// wait has timed out or the client has disconnected. Neither closure may block.
  public var begin: @Sendable (HTTPPromise) -> @Sendable () -> Void
  /// Bytes of memory that the wait retains besides the request; they count towards the memory of connections.
  public var retainedBytes: Int

  /// Makes a wait.
  public init(
    limit: Duration, retainedBytes: Int = 0, expired: @escaping @Sendable () -> HTTPResponse,
    begin: @escaping @Sendable (HTTPPromise) -> @Sendable () -> Void
  ) {
    self.limit = limit
    self.retainedBytes = retainedBytes
    self.expired = expired
    self.begin = begin
  }

  /// Returns the same wait with `change` applied to its response, including the timeout response.
  public func map(_ change: @escaping @Sendable (HTTPResponse) -> HTTPResponse) -> HTTPWait {
    let (expired, begin) = (expired, begin)
    return HTTPWait(limit: limit, retainedBytes: retainedBytes) {
      change(expired())
    } begin: {
      begin($0.map(change))
    }
  }
}
