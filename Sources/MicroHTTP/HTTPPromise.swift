internal import Synchronization

/// The right to answer one request later, from any thread.
///
/// The first `fulfil` counts. A promise that is dropped without one is answered 500, so that no client waits for
/// nothing; once the client is gone both are harmless.
public final class HTTPPromise: Sendable {
  private let keep: @Sendable (HTTPResponse?) -> Void
  private let isKept = Atomic(false)

  init(inbox: ServerInbox, connection: UInt64, request: UInt64) {
    keep = { inbox.post(.reply(connection: connection, request: request, $0)) }
  }

  /// The right to what `original` promises, by way of `change`.
  private init(_ original: HTTPPromise, _ change: @escaping @Sendable (HTTPResponse) -> HTTPResponse) {
    // Dropped, this one lets go of the original, which then knows what to do.
    keep = { if let response = $0 { original.fulfil(change(response)) } }
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

  deinit {
    guard !isKept.load(ordering: .acquiring) else { return }
    keep(nil)
  }
}
