internal import EventStreams

/// How far the current request of a connection is, with what the phase needs.
enum HTTPConnectionPhase {
  /// No request line was received yet; under TLS, this may be the handshake.
  case accepted
  /// Between two requests.
  case idle
  /// The request line is complete, the head is not.
  case head
  /// The head was accepted, its body is not complete.
  case body
  /// The head is complete and the same as before, and its cached response was valid.
  case repeated(CachedRequestHead)
  /// The head is complete and no body is awaited; there is no response yet.
  case received
  /// The response is promised; the connection is suspended.
  case deferred(DeferredHTTPResponse)
  /// The response is queued.
  case answered
  case streaming(HTTPCallbackStream)
  /// libmicrohttpd has closed the connection.
  case closed

  /// The response that was promised and not sent yet.
  var deferral: DeferredHTTPResponse? { if case .deferred(let deferral) = self { deferral } else { nil } }

  /// A response was promised and has not been given.
  var awaitsReply: Bool { deferral.map { $0.reply == nil } ?? false }

  var stream: HTTPCallbackStream? { if case .streaming(let stream) = self { stream } else { nil } }

  /// A response is queued, and not sent completely.
  var isAnswered: Bool { if case .answered = self { true } else { false } }

  /// The current request's line is complete.
  var hasRequestLine: Bool {
    switch self {
    case .accepted, .idle, .closed: false
    default: true
    }
  }

  /// The current request's head is complete.
  var hasHead: Bool { if case .head = self { false } else { hasRequestLine } }
}

/// Why no further request of a connection is answered.
enum HTTPConnectionEnding {
  /// A response was queued before everything was read: the socket lingers after the close.
  case refused
  /// The response was written directly (ADR 14); the socket lingers after the close.
  case refusedDirectly
  /// Rejected before its request for lack of capacity.
  case turnedAway
  /// The client has closed the connection, or got its response directly.
  case gone
  /// The socket belongs to the stream hub now, and libmicrohttpd closes its own copy.
  case takenOver
}

/// The connections of a server in the phases that its loop and a stop wait for.
struct HTTPConnectionPhaseCounts {
  /// Connections that have not sent a request line yet; under TLS, handshakes may be among them.
  private(set) var awaitingFirstRequest = 0
  /// Connections whose request's body is not complete yet.
  private(set) var bodiesAwaited = 0
  /// Requests whose head passed and whose response is not sent yet, without streams that have no end.
  private(set) var requestsInFlight = 0

  /// Adds `change` to the number of connections in a phase.
  mutating func add(_ change: Int, in phase: HTTPConnectionPhase) {
    switch phase {
    case .accepted: awaitingFirstRequest += change
    case .idle, .head, .closed: break
    case .body:
      bodiesAwaited += change
      requestsInFlight += change
    case .streaming(let state) where state.stream.endsAfter == nil: break
    case .repeated, .received, .deferred, .answered, .streaming: requestsInFlight += change
    }
  }
}
