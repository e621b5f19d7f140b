internal import EventLoop

/// Resolves names to addresses on a thread of its own: from the hosts file, then the DNS, for both families, as
/// getaddrinfo(3) does.
///
/// One thread (`probes`, started with the first request) owns every c-ares object. Requests for a name that is already
/// being resolved share its answer; answers are cached for their time to live within ``ResolverConfiguration/cacheBounds``. A
/// change of `/etc/resolv.conf` or `/etc/hosts` takes effect immediately: the resolver empties the cache, repeats open
/// queries with the new servers, and calls the handler of ``onChange(_:)``.
public final class Resolver: Sendable {
  private let inbox: ResolverInbox

  /// Makes a resolver; no thread runs before the first request.
  public init(_ configuration: ResolverConfiguration = ResolverConfiguration()) {
    inbox = ResolverInbox(configuration)
  }

  deinit { inbox.stop() }

  var configuration: ResolverConfiguration { inbox.configuration }

  /// Requests all addresses of `name`.
  ///
  /// `completion` runs exactly once. A request that is refused immediately (`invalidName`, `tooManyQueries`,
  /// `cancelled` after ``stop()``) or is a literal completes on the caller's thread before this returns; all others
  /// complete on the resolver's thread, where they must not block. Do not call this under a lock that `completion`
  /// takes.
  ///
  /// - Parameters:
  ///   - name: a host name in ASCII (`bücher.example` is `xn--bcher-kva.example`); a final dot disables the search
  ///     list, and is part of the name in the hosts file. An IPv4 or IPv6 literal (with `%zone`) is returned unchanged.
  ///   - timeout: the deadline for the request, at most an hour. If only one family has answered by then, its addresses
  ///     are the result.
  ///   - completion: receives the addresses, IPv6 before IPv4 (RFC 6724's default), never an empty list; or the
  ///     failure.
  /// - Returns: a handle that cancels the request; releasing it has no effect.
  @discardableResult
  public func resolve(
    _ name: String, timeout: Duration,
    _ completion: @escaping @Sendable (Result<ResolvedAddresses, HostResolutionFailure>) -> Void
  ) -> Cancellation {
    let id = inbox.nextID()
    submit(name, timeout: timeout, id: id, completion)
    return Cancellation(inbox: inbox, id: id)
  }

  /// Requests all addresses of `name`, as ``resolve(_:timeout:_:)`` does; cancelling the task cancels the request.
  ///
  /// - Parameters:
  ///   - name: a host name in ASCII, or a literal.
  ///   - timeout: the deadline for the request.
  /// - Returns: the addresses, never empty.
  /// - Throws: ``HostResolutionFailure``.
  public func resolve(_ name: String, timeout: Duration) async throws(HostResolutionFailure) -> ResolvedAddresses {
    let id = inbox.nextID()
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        submit(name, timeout: timeout, id: id) { continuation.resume(returning: $0) }
        // A cancellation before the request was submitted had no effect.
        if Task.isCancelled { inbox.cancel(id) }
      }
    } onCancel: {
      inbox.cancel(id)
    }
    return try result.get()
  }

  /// Sets the handler for changes of `/etc/resolv.conf` or `/etc/hosts`, called once the new content is in use.
  ///
  /// It runs on the resolver's thread, which starts with the first request; it must not block. A later handler replaces
  /// an earlier one.
  public func onChange(_ body: @escaping @Sendable () -> Void) { inbox.onChange(body) }

  /// Empties the cache; open queries are repeated from new sockets, and their answers are not cached.
  public func flush() { inbox.flush() }

  /// Fails open requests with ``HostResolutionFailure/cancelled`` and ends the thread; every later request is cancelled.
  ///
  /// Waits for the thread, except when called on it (from a completion). A second call returns immediately.
  public func stop() { inbox.stop() }

  private func submit(
    _ name: String, timeout: Duration, id: UInt64,
    _ completion: @escaping @Sendable (Result<ResolvedAddresses, HostResolutionFailure>) -> Void
  ) {
    do throws(HostResolutionFailure) {
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

  /// A handle that cancels one request.
  public struct Cancellation: Sendable {
    private let inbox: ResolverInbox
    private let id: UInt64

    init(inbox: ResolverInbox, id: UInt64) {
      self.inbox = inbox
      self.id = id
    }

    /// Completes the request with ``HostResolutionFailure/cancelled``, on the resolver's thread, unless it is complete.
    ///
    /// May be called from any thread, any number of times. Other requests for the same name are not affected.
    public func cancel() { inbox.cancel(id) }
  }
}
