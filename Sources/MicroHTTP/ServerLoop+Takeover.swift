internal import CMicroHTTPD
internal import Glibc
internal import Synchronization

/// Streams whose sockets are taken from libmicrohttpd: it is told to close the connection, and closes its own copy.
extension ServerLoop {
  /// The hub that the configured mode asks for; nil for streams by callback.
  static func makeHub(
    _ configuration: HTTPServer.Configuration, counters: ServerCounters, inbox: ServerInbox, object: String
  ) throws(HTTPServerError) -> StreamHub? {
    func failed(_ reason: String) -> HTTPServerError {
      HTTPServerError(operation: "take over streams", object: object, reason: reason)
    }
    if configuration.streams == .callback { return nil }
    guard TakeoverProof.holds else {
      guard configuration.streams == .takeover else { return nil }
      throw failed("this libmicrohttpd does not let go of sockets; streams=callback does without")
    }
    let hub = StreamHub(counters: counters, lagLimit: configuration.streamLag) { [inbox] in inbox.poke() }
    guard hub != nil || configuration.streams == .auto else { throw failed("no thread or descriptor is left") }
    return hub
  }

  /// Makes the connection's socket a stream of the hub's, after which libmicrohttpd is to close the connection.
  ///
  /// False when there is no descriptor for the copy.
  func takeOver(_ connection: Connection, _ response: HTTPResponse, _ stream: HTTPStream, _ hub: StreamHub) -> Bool {
    let descriptor = fcntl(connection.descriptor, F_DUPFD_CLOEXEC, 0)
    guard descriptor >= 0 else { return false }
    connection.isTakenOver = true
    counters.streams.increment()
    counters.streamsOpened.increment()
    ListeningSocket.set(descriptor, SOL_SOCKET, SO_SNDBUF, Limits.streamSendBuffer)
    ListeningSocket.set(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
    var stream = stream
    var bytes = ResponseHead.bytes(status: response.status, headers: response.headers)
    bytes += stream.preamble
    stream.preamble = []
    // The first bytes go out from here, so that a client sees them before the shard has had its turn.
    let flags = Int32(MSG_NOSIGNAL | MSG_DONTWAIT)
    let sent = unsafe bytes.withUnsafeBytes { unsafe send(descriptor, $0.baseAddress, $0.count, flags) }
    counters.streamBytes.wrappingAdd(max(0, sent), ordering: .relaxed)
    let rest = sent == bytes.count ? [] : Array(bytes.dropFirst(max(0, sent)))
    hub.join(StreamShard.Newcomer(descriptor: descriptor, stream: stream, rest: rest))
    return true
  }
}

/// The head of an answer that ends with its connection.
enum ResponseHead {
  /// The fields that this server makes itself.
  private static let own = ["Content-Length", "Transfer-Encoding", "Connection", "Date"]

  static func bytes(status: Int, headers: HTTPHeaders) -> [UInt8] {
    let reason = unsafe CMicroHTTPD_reason(UInt32(clamping: status)).map { unsafe String(cString: $0) } ?? ""
    var text = "HTTP/1.1 \(status) \(reason)\r\nDate: \(date())\r\nConnection: close\r\n"
    for field in headers.fields where !own.contains(where: { $0.equalsIgnoringCase(field.name) }) {
      guard !(field.name + field.value).utf8.contains(where: { $0 == 0x0d || $0 == 0x0a }) else { continue }
      text += "\(field.name): \(field.value)\r\n"
    }
    return Array((text + "\r\n").utf8)
  }

  /// The moment as RFC 9110, section 5.6.7, wants it.
  private static func date() -> String {
    var seconds = time(nil)
    var parts = unsafe tm()
    unsafe gmtime_r(&seconds, &parts)
    let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return unsafe "\(days[Int(parts.tm_wday) % 7]), \(two(parts.tm_mday)) \(months[Int(parts.tm_mon) % 12]) "
      + "\(1900 + Int(parts.tm_year)) \(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec)) GMT"
  }
}
