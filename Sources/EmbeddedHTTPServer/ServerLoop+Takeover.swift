internal import CMicroHTTPD
internal import Glibc

/// Streams whose sockets are taken from libmicrohttpd: it is told to close the connection, and closes its own copy.
extension ServerLoop {
  /// The hub that the configured mode asks for; nil for streams by callback.
  static func makeHub(
    _ configuration: HTTPServer.Configuration, _ counters: ServerCounters, _ inbox: ServerInbox, _ object: String
  ) throws(HTTPServerError) -> StreamHub? {
    func failed(_ reason: String) -> HTTPServerError {
      HTTPServerError(operation: "take over streams", object: object, reason: reason)
    }
    if configuration.streams == .callback { return nil }
    guard TakeoverSelfTest.passed else {
      guard configuration.streams == .takeover else { return nil }
      throw failed("this libmicrohttpd does not let go of sockets; streams=callback does without")
    }
    let hub = StreamHub(counters: counters, lagLimit: configuration.streamLag) { [inbox] in inbox.poke() }
    guard hub != nil || configuration.streams == .auto else { throw failed("no thread or descriptor is left") }
    return hub
  }

  /// How streams reach their clients here.
  var streamMode: StreamMode { hub == nil ? .callback : .takeover }

  /// Makes the connection's socket a stream of the hub's, after which libmicrohttpd is to close the connection.
  ///
  /// False when there is no descriptor for the copy.
  func takeOver(_ connection: Connection, _ response: HTTPResponse, _ stream: HTTPStream, _ hub: StreamHub) -> Bool {
    let descriptor = fcntl(connection.descriptor, F_DUPFD_CLOEXEC, 0)
    guard descriptor >= 0 else { return false }
    connection.isTakenOver = true
    report(connection, response)
    counters.bodyBytes.add(stream.preamble.count)
    counters.streams.increment()
    counters.streamsOpened.increment()
    ListeningSocket.set(descriptor, SOL_SOCKET, SO_SNDBUF, Limits.streamSendBuffer)
    ListeningSocket.set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
    var stream = stream
    let bytes = Array("\(RawResponse.head(of: response))\r\n".utf8) + stream.preamble
    stream.preamble = []
    // The first bytes go out from here, so that a client sees them before the shard has had its turn.
    let flags = Int32(MSG_NOSIGNAL | MSG_DONTWAIT)
    let sent = unsafe bytes.withUnsafeBytes { unsafe send(descriptor, $0.baseAddress, $0.count, flags) }
    let rest = sent == bytes.count ? [] : Array(bytes.dropFirst(max(0, sent)))
    let member = connection.slotAddress.map { PerAddressSlot($0, inbox) }
    hub.adopt(StreamShard.StreamHandoff(descriptor: descriptor, stream: stream, unsent: rest, slotAddress: member))
    return true
  }
}

/// A stream's part in the number of its client's connections, which it leaves when it ends.
final class PerAddressSlot: Sendable {
  private let address: String
  private let inbox: ServerInbox

  init(_ address: String, _ inbox: ServerInbox) {
    self.address = address
    self.inbox = inbox
  }

  deinit { inbox.post(.releasedAddressSlot(address)) }
}
