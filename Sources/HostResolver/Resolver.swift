internal import EventLoop

/// Resolves names to addresses on a thread of its own: the hosts file, then the DNS, both families (as getaddrinfo(3) does).
///
/// One thread (`probes`, started with the first request) owns every c-ares object. Requests for a name that is being
/// asked already share its answer; answers are remembered for their time to live within
/// ``Configuration/cacheBounds``. A change of `/etc/resolv.conf` or `/etc/hosts` is noticed at once: it empties the
/// memory, sends what is under way to the new servers, and is told to who asked for it (``onChange(_:)``).
public final class Resolver: Sendable {
  private let inbox: ResolverInbox

  /// Makes a resolver; no thread runs before the first request.
  public init(_ configuration: Configuration = Configuration()) {
    inbox = ResolverInbox(configuration)
  }

  deinit { inbox.stop() }

  /// What it was made with.
  var configuration: Configuration { inbox.configuration }

  /// Asks for all addresses of `name`.
  ///
  /// `completion` runs exactly once. A request that is refused at once (`invalidName`, `tooManyQueries`, `cancelled`
  /// after ``stop()``) or is a literal completes on the caller's thread before this returns; all others complete on
  /// the resolver's thread, where they must not block. Do not call this under a lock that `completion` takes.
  ///
  /// - Parameters:
  ///   - name: a host name in ASCII (`bücher.example` is `xn--bcher-kva.example`); a final dot keeps the search list
  ///     out. An IPv4 or IPv6 literal (with `%zone`) is returned as it is.
  ///   - timeout: the deadline for everything, at most an hour. If only one family has answered by then, its
  ///     addresses are the result.
  ///   - completion: takes the addresses, IPv6 before IPv4 (RFC 6724's default), never an empty list; or the failure.
  /// - Returns: the means to cancel; letting it go does nothing.
  @discardableResult
  public func resolve(
    _ name: String, timeout: Duration,
    _ completion: @escaping @Sendable (Result<[ResolvedAddress], ResolutionFailure>) -> Void
  ) -> Cancellation {
    let id = inbox.nextID()
    submit(name, timeout: timeout, id: id, completion)
    return Cancellation(inbox: inbox, id: id)
  }

  /// Asks for all addresses of `name`, as ``resolve(_:timeout:_:)`` does; cancelling the task cancels the request.
  /// - Parameters:
  ///   - name: a host name in ASCII, or a literal.
  ///   - timeout: the deadline for everything.
  /// - Returns: the addresses, never empty.
  /// - Throws: ``ResolutionFailure``.
  public func resolve(_ name: String, timeout: Duration) async throws(ResolutionFailure) -> [ResolvedAddress] {
    let id = inbox.nextID()
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        submit(name, timeout: timeout, id: id) { continuation.resume(returning: $0) }
        // A cancellation before the request was submitted found nothing to cancel.
        if Task.isCancelled { inbox.cancel(id) }
      }
    } onCancel: {
      inbox.cancel(id)
    }
    return try result.get()
  }

  /// Says what to call whenever `/etc/resolv.conf` or `/etc/hosts` has changed, once the new ones are in use.
  ///
  /// It is called on the resolver's thread, which runs from the first request on; it must not block. The last one given
  /// counts.
  public func onChange(_ body: @escaping @Sendable () -> Void) { inbox.onChange(body) }

  /// Forgets every remembered answer; what is under way is asked anew, from other sockets, and not remembered.
  public func flush() { inbox.flush() }

  /// Fails what is under way with ``ResolutionFailure/cancelled`` and ends the thread; every later request is cancelled.
  ///
  /// Waits for the thread, except when called on it (from a completion). Called again, it returns at once.
  public func stop() { inbox.stop() }

  private func submit(
    _ name: String, timeout: Duration, id: UInt64,
    _ completion: @escaping @Sendable (Result<[ResolvedAddress], ResolutionFailure>) -> Void
  ) {
    do throws(ResolutionFailure) {
      switch try HostNameSyntax.classify(name) {
      case .address(let address): completion(.success([address]))
      case .name(let name):
        let patience = min(max(timeout, .zero), Limits.longestTimeout)
        try inbox.submit(
          ResolverRequest(id: id, name: name, deadline: .now.advanced(by: patience), completion: completion))
      }
    } catch {
      completion(.failure(error))
    }
  }

  /// Ends one request.
  public struct Cancellation: Sendable {
    private let inbox: ResolverInbox
    private let id: UInt64

    init(inbox: ResolverInbox, id: UInt64) {
      self.inbox = inbox
      self.id = id
    }

    /// Completes the request with ``ResolutionFailure/cancelled``, on the resolver's thread, unless it is complete.
    ///
    /// From any thread, any number of times. Others that asked for the same name are not concerned.
    public func cancel() { inbox.cancel(id) }
  }
}
