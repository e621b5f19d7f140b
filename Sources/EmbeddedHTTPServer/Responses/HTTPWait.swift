/// An answer that waits for news, but not for ever.
///
/// A request that waits costs its connection and whatever `begin` keeps, and no thread.
public struct HTTPWait: Sendable {
  /// The longest wait.
  public var limit: Duration
  /// Makes the answer when the wait is over without news, and when the server is about to stop.
  public var expired: @Sendable () -> HTTPResponse
  /// Begins to wait, at once on the server's thread; the promise is to be kept when there is news.
  ///
  /// What it returns ends the wait: it is called once, on the server's thread, when nothing is awaited any more, because
  /// the answer has come, the time is over or the client is gone. Neither may block.
  public var begin: @Sendable (HTTPPromise) -> @Sendable () -> Void

  /// A wait.
  public init(
    limit: Duration, expired: @escaping @Sendable () -> HTTPResponse,
    begin: @escaping @Sendable (HTTPPromise) -> @Sendable () -> Void
  ) {
    self.limit = limit
    self.expired = expired
    self.begin = begin
  }

  /// The same wait with `change` applied to its answer, whichever it is.
  public func map(_ change: @escaping @Sendable (HTTPResponse) -> HTTPResponse) -> HTTPWait {
    let (expired, begin) = (expired, begin)
    return HTTPWait(limit: limit) {
      change(expired())
    } begin: {
      begin($0.map(change))
    }
  }
}
