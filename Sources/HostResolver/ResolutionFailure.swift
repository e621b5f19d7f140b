public import EventLoop

/// Why a name gave no address.
public enum ResolutionFailure: Error, Sendable, Equatable {
  /// The DNS answered for both families that there is no such name (NXDOMAIN) or no address for it (NODATA).
  case notFound

  /// The DNS gave no usable answer: SERVFAIL, REFUSED, a malformed answer, no server that can be reached.
  ///
  /// c-ares does not say which of these every server gave; the text is for people.
  case serverFailure(String)

  /// The resolver could not start: the system refused a descriptor or a thread. No server was asked.
  case systemFailure(EventLoopError)

  /// The deadline passed without an answer.
  case timeout

  /// The caller, its task or ``Resolver/stop()`` ended the request.
  case cancelled

  /// The text is no host name; says why, with a hint. Nothing was asked.
  case invalidName(String)

  /// Too many names are waiting already; ask again later.
  case tooManyQueries
}
