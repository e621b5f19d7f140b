internal import EventStreams
internal import EventLoop
internal import Glibc
internal import Synchronization

/// Streams whose sockets are taken over from libmicrohttpd (ADR 9).
///
/// libmicrohttpd is made to close the connection and its own copy of the socket.
final class HTTPStreamTakeover {
  private let context: HTTPServerContext
  /// Sends the streams; to be stopped once.
  let hub: StreamHub

  /// Starts the hub if the configured mode needs one; nil for streams by callback.
  init?(_ context: HTTPServerContext, object: String) throws(HTTPServerError) {
    func failed(_ reason: String) -> HTTPServerError {
      HTTPServerError(operation: "take over streams", object: object, reason: reason)
    }
    let (mode, inbox) = (context.configuration.streams, context.inbox)
    // Only the library can write to a TLS session.
    if mode == .callback || context.identity != nil { return nil }
    guard MHDTakeoverSelfTest.passed else {
      guard mode == .takeover else { return nil }
      throw failed("this libmicrohttpd does not let go of sockets; streams=callback does without")
    }
    let counters = context.counters
    let started = StreamHub(counters: counters.streams, lagLimit: context.configuration.streamLag) {
      counters.connections.decrement()
    } onIdle: {
      inbox.wake()
    }
    guard let hub = started else {
      guard mode == .auto else { throw failed("no thread or descriptor is left") }
      return nil
    }
    self.context = context
    self.hub = hub
  }

  /// Gives the connection's socket to the hub as a stream; then libmicrohttpd must close the connection.
  ///
  /// - Returns: false if there is no descriptor for the copy, or the client has HTTP/1.0, which has no chunks.
  func takeOver(_ connection: HTTPConnection, _ response: HTTPResponse, _ stream: EventStreamResponse) -> Bool {
    guard !connection.current.isHTTP10 else { return false }
    let descriptor = fcntl(connection.client.descriptor, F_DUPFD_CLOEXEC, 0)
    guard descriptor >= 0 else { return false }
    connection.end(.takenOver)
    connection.report(response)
    context.counters.streams.open.increment()
    context.counters.streams.opened.increment()
    ListeningSocket.set(descriptor, SOL_SOCKET, SO_SNDBUF, Limits.streamSendBuffer)
    ListeningSocket.set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
    ListeningSocket.set(descriptor, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, 0)
    var stream = stream
    let head = "\(MHDRawResponse.head(of: response))Transfer-Encoding: chunked\r\n\r\n"
    let preamble = ChunkedCoding.chunk(stream.preamble)
    context.counters.bodyBytes.add(preamble.count)
    let bytes = Array(head.utf8) + preamble
    stream.preamble = []
    // The first bytes are sent here, so that a client receives them before the hub's thread has its turn.
    let sent = connection.client.sendDirectly(bytes)
    let rest = sent == bytes.count ? [] : Array(bytes.dropFirst(max(0, sent)))
    let member = connection.admission.address.map { PerAddressConnectionSlot($0, context.inbox) }
    hub.adopt(StreamHandoff(descriptor: descriptor, stream: stream, unsent: rest, slotAddress: member))
    return true
  }
}
