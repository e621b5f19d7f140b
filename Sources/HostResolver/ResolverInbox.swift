internal import EventLoop
internal import Locks

struct ResolverRequest: Sendable {
  let id: UInt64
  let name: String
  let deadline: MonotonicInstant
  let completion: @Sendable (Result<ResolvedAddresses, HostResolutionFailure>) -> Void
}

/// The state that callers on any thread share with the resolver's thread.
final class ResolverInbox: Sendable {
  enum Command: Sendable {
    case resolve(ResolverRequest)
    case cancel(UInt64)
    case flush
  }

  private struct State {
    /// Requests submitted and not yet completed.
    var openRequests = 0
    var lastID: UInt64 = 0
    var onChange: (@Sendable () -> Void)?
  }

  let configuration: ResolverConfiguration
  private let thread = MailboxThread<Command>("probes", eventCapacity: Limits.resolverEvents)
  private let state = Locked(State())

  init(_ configuration: ResolverConfiguration) { self.configuration = configuration }

  func nextID() -> UInt64 {
    state.withLock {
      $0.lastID += 1
      return $0.lastID
    }
  }

  /// Sends a request to the thread, which calls its completion; not called if this method throws.
  func submit(_ request: ResolverRequest) throws(HostResolutionFailure) {
    try state.withLock { (state) throws(HostResolutionFailure) in
      if state.openRequests >= Limits.requestsOpen { throw .tooManyQueries }
      state.openRequests += 1
    }
    do throws(MailboxThread<Command>.PostError) {
      // The thread owns its loop and this object, so that the resolver may be released while the last completions run.
      try thread.post(.resolve(request)) { { poller, mailbox in ResolverLoop(self, poller, mailbox).run() } }
    } catch {
      requestsCompleted(1)
      switch error {
      case .stopped: throw .cancelled
      case .full: throw .tooManyQueries
      case .unavailable(let cause): throw .systemFailure(cause)
      }
    }
  }

  func cancel(_ id: UInt64) { thread.postIfRunning(.cancel(id)) }

  func flush() { thread.postIfRunning(.flush) }

  func stop() { thread.stop() }

  /// Sets the handler that the thread calls after `/etc/resolv.conf` or `/etc/hosts` has changed.
  func onChange(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.onChange = body } }

  /// Called by the thread when later queries use the new content of a changed file.
  func filesChanged() { state.withLock(\.onChange)?() }

  /// Called by the thread when `count` requests are complete.
  func requestsCompleted(_ count: Int) { state.withLock { $0.openRequests -= count } }
}
