public import EventLoop

/// Why the resolution of a name failed.
public enum HostResolutionFailure: Error, Sendable, Equatable {
  /// The DNS answered for both families that the name does not exist (NXDOMAIN) or has no address (NODATA).
  case notFound

  /// The DNS gave no usable answer: SERVFAIL, REFUSED, a malformed answer, or no reachable server.
  ///
  /// c-ares does not report which of these each server returned; the text is for people.
  case serverFailure(String)

  /// The resolver could not start, because the system refused a descriptor or a thread. No query was sent.
  case systemFailure(EventLoopError)

  /// The deadline passed without an answer.
  case timeout

  /// The caller, its task or ``Resolver/stop()`` ended the request.
  case cancelled

  /// The text is not a host name; the value says why, with a hint. No query was sent.
  case invalidName(String)

  /// Too many names are in the queue; the request can be repeated later.
  case tooManyQueries
}
