internal import EventStreams
internal import Logging

/// Finds the connection that an error message of libmicrohttpd is about, and answers its request directly (ADR 14).
///
/// The library reports an error right before it sends a page of its own. The message does not name the connection.
final class ErrorResponseMatcher {
  private let context: HTTPServerContext
  private let direct: DirectResponder
  private let connections: HTTPConnectionTable
  // Tokens and not connections: these change with every request, and a reference would be counted each time.
  /// The connection whose request line was received last, until its head is complete; 0 for none.
  private var latestHead: UInt64 = 0
  /// Connections with an incomplete head before which another connection's request line was received.
  private var splitHeads: Set<UInt64> = []
  /// The connection that was given a response last; 0 before the first.
  private var latestAnswer: UInt64 = 0

  init(_ context: HTTPServerContext, _ direct: DirectResponder, _ connections: HTTPConnectionTable) {
    self.context = context
    self.direct = direct
    self.connections = connections
  }

  var hasIncompleteHead: Bool { !incompleteHeads.isEmpty }

  /// The connections with an incomplete head, unless their request was refused.
  private var incompleteHeads: [HTTPConnection] {
    splitHeads.union([latestHead]).compactMap { connections[$0] }.filter(\.isMidHead)
  }

  /// A request line is complete, its head is not.
  func lineReceived(_ connection: HTTPConnection) {
    // Nearly every head is received as a whole, and is complete before the next line of another connection.
    if latestHead != 0, latestHead != connection.token { splitHeads.insert(latestHead) }
    latestHead = connection.token
  }

  /// The connection's head is complete, or the connection is closed.
  func headEnded(_ connection: HTTPConnection) {
    if latestHead == connection.token { latestHead = 0 }
    if !splitHeads.isEmpty { splitHeads.remove(connection.token) }
  }

  /// The library was given a response on the connection.
  func answerQueued(_ connection: HTTPConnection) { latestAnswer = connection.token }

  /// Handles a message of the library.
  ///
  /// If exactly one connection can be meant, its client receives our response. Otherwise 0.9.75 would send two heads for a
  /// malformed length, and a long head, like what only 1.0 refuses, would get libmicrohttpd's page.
  func libraryLogged(_ diagnostic: String) {
    context.logger.debug("libmicrohttpd reports an error", metadata: ["diagnostic": "\(diagnostic)"])
    if diagnostic.hasPrefix("Closing connection (failed to create response header)"),
      let latest = connections[latestAnswer]
    {
      // The request's head left no space in the connection's memory. The library makes the head of a response when it
      // is given the response, so the message is about the last one.
      context.counters.refused.increment()
      return direct.refuseDirectly(latest, .headTooLarge)
    }
    guard let status = Self.status(in: diagnostic) else { return }
    context.counters.refused.increment()
    guard splitHeads.count <= Limits.splitHeads else { return }
    let heads = incompleteHeads
    if status == 431 {
      // Only a connection with an incomplete head gets this status: a single one is the right one.
      if heads.count == 1 { direct.refuseDirectly(heads[0], .headTooLarge) }
    } else {
      for head in heads {
        // The message may be about another connection. That does no harm: a head with such fields is refused anyway.
        guard let fields = head.client.completeFields, let refusal = RequestValidator.check(fields: fields) else {
          continue
        }
        direct.refuseDirectly(head, refusal)
      }
    }
  }

  private static func status(in diagnostic: String) -> Int? {
    let beginning = "Error processing request (HTTP response code is "
    guard diagnostic.hasPrefix(beginning) else { return nil }
    return Int(diagnostic.dropFirst(beginning.count).prefix(3))
  }
}
