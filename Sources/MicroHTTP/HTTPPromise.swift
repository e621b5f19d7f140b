internal import Synchronization

/// The right to answer one request later, from any thread.
///
/// The first `fulfil` counts. A promise that is dropped without one is answered 500, so that no client waits for
/// nothing; once the client is gone both are harmless.
public final class HTTPPromise: Sendable {
  private let inbox: ServerInbox
  private let connection: UInt64
  private let request: UInt64
  private let isKept = Atomic(false)

  init(inbox: ServerInbox, connection: UInt64, request: UInt64) {
    self.inbox = inbox
    self.connection = connection
    self.request = request
  }

  /// Answers the request; later calls change nothing.
  public func fulfil(_ response: HTTPResponse) {
    guard !isKept.exchange(true, ordering: .acquiringAndReleasing) else { return }
    inbox.post(.reply(connection: connection, request: request, response))
  }

  deinit {
    guard !isKept.load(ordering: .acquiring) else { return }
    inbox.post(.reply(connection: connection, request: request, nil))
  }
}
