internal import EventLoop
internal import Synchronization

/// The right to answer one request later, from any thread.
///
/// The first `fulfil` counts. A promise that is dropped without one is answered 500, so that no client waits for
/// nothing; once the client is gone both are harmless.
public final class HTTPPromise: Sendable {
  private let keep: @Sendable (HTTPResponse?) -> Void
  private let setAbandonmentHandler: @Sendable (@escaping @Sendable () -> Void) -> Void
  private let isKept = Atomic(false)

  init(inbox: ServerInbox, connection: UInt64, request: UInt64) {
    keep = { inbox.post(.reply(connection: connection, request: request, $0)) }
    setAbandonmentHandler = { body in
      // A stopped server sends no response.
      if inbox.post(.onAbandonment(connection: connection, request: request, body)) != .accepted { body() }
    }
  }

  /// The right to what `original` promises, by way of `change`.
  private init(_ original: HTTPPromise, _ change: @escaping @Sendable (HTTPResponse) -> HTTPResponse) {
    // Dropped, this one lets go of the original, which then knows what to do.
    keep = { if let response = $0 { original.fulfil(change(response)) } }
    setAbandonmentHandler = { original.onAbandonment($0) }
  }

  /// A promise of the same answer whose giver need not know what becomes of it: `change` is applied to what it gives.
  public func map(_ change: @escaping @Sendable (HTTPResponse) -> HTTPResponse) -> HTTPPromise {
    HTTPPromise(self, change)
  }

  /// Answers the request; later calls change nothing.
  public func fulfil(_ response: HTTPResponse) {
    guard !isKept.exchange(true, ordering: .acquiringAndReleasing) else { return }
    keep(response)
  }

  /// Calls `body` when no client waits for the response any more: the client has left, the time for the answer is over,
  /// or the server stops.
  ///
  /// It is called once, and not at all when the promise was kept or dropped before. It runs on the server's thread, where
  /// it must not block, or at once in this call when the server has stopped already. Of several, the last one counts.
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
