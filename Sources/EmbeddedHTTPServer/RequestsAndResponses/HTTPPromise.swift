internal import EventLoop
internal import Synchronization

/// The right to answer one request later, from any thread.
///
/// The first `fulfil` counts. If a promise is released without one, the request is answered 500, so that the client
/// does not wait in vain. Both have no effect once the client has disconnected.
public final class HTTPPromise: Sendable {
  private let keep: @Sendable (HTTPResponse?) -> Void
  private let keepWaiting: @Sendable (HTTPWait) -> Void
  private let setAbandonmentHandler: @Sendable (@escaping @Sendable () -> Void) -> Void
  private let isKept = Atomic(false)

  init(inbox: HTTPServerInbox, connection: UInt64, request: UInt64) {
    keep = { inbox.post(.reply(connection: connection, request: request, $0)) }
    keepWaiting = { inbox.post(.wait(connection: connection, request: request, $0)) }
    setAbandonmentHandler = { body in
      // A stopped server sends no response.
      if inbox.post(.onAbandonment(connection: connection, request: request, body)) != .accepted { body() }
    }
  }

  /// Makes a promise that fulfils `original` with the result of `change`.
  private init(
    _ original: HTTPPromise, _ change: @escaping @Sendable (HTTPResponse) -> HTTPResponse,
    _ waiting: @escaping @Sendable (HTTPWait) -> HTTPWait
  ) {
    // If this promise is released, it releases the original, which then answers 500.
    keep = { if let response = $0 { original.fulfil(change(response)) } }
    keepWaiting = { original.fulfil(waiting: waiting($0).map(change)) }
    setAbandonmentHandler = { original.onAbandonment($0) }
  }

  /// Returns a promise of the same response.
  ///
  /// - Parameters:
  ///   - change: applied to the response before it is sent.
  ///   - waiting: applied to the wait, if the request becomes a long poll.
  /// - Returns: the promise.
  public func map(
    _ change: @escaping @Sendable (HTTPResponse) -> HTTPResponse,
    waiting: @escaping @Sendable (HTTPWait) -> HTTPWait = { $0 }
  ) -> HTTPPromise {
    HTTPPromise(self, change, waiting)
  }

  /// Answers the request; later calls have no effect.
  public func fulfil(_ response: HTTPResponse) {
    guard !isKept.exchange(true, ordering: .acquiringAndReleasing) else { return }
    keep(response)
  }

  /// Makes the request a long poll, which the server begins on its thread; later calls have no effect.
  ///
  /// For a handler that finds only after some work that the client has the present state.
  public func fulfil(waiting wait: HTTPWait) {
    guard !isKept.exchange(true, ordering: .acquiringAndReleasing) else { return }
    keepWaiting(wait)
  }

  /// Registers `body` for a call when the response is not needed any more.
  ///
  /// That is so when the client has disconnected, the time for the response is over, or the server stops.
  ///
  /// It is called at most once, and not if the promise was fulfilled or released before. It runs on the server's
  /// thread, where it must not block, or within this call if the server has stopped already. A later registration
  /// replaces an earlier one.
  public func onAbandonment(_ body: @escaping @Sendable () -> Void) {
    setAbandonmentHandler { [weak self] in
      guard let self, !isKept.load(ordering: .acquiring) else { return }
      body()
    }
  }

  deinit {
    guard !isKept.load(ordering: .acquiring) else { return }
    keep(nil)
  }
}
