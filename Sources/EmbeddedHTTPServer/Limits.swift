/// Every limit of this module, with its unit and its reason.
enum Limits {
  /// Bytes a connection may use for its request head and its write buffer, in libmicrohttpd.
  ///
  /// A request line of 8,000 bytes, which RFC 9112 §3 recommends to accept, fits with a client's usual header fields.
  /// Longer heads are answered 414 or 431. Every TLS stream keeps all of it in resident memory, besides 5 KB, so 16 KiB
  /// would cost 21 KB a stream. libmicrohttpd clears it between the requests of a connection: 128 KiB cost 13 % of the
  /// throughput.
  static let connectionMemory = 10_752

  /// Bytes of a response that is written past libmicrohttpd.
  ///
  /// It is half of the buffer size that every process may request for a socket (`net.core.wmem_max`), because the
  /// kernel uses half of that itself.
  static let rawResponse = 96 * 1024

  /// Connections that may wait in the kernel for `accept`: many clients that reconnect together should not be refused.
  static let backlog: Int32 = 4096

  /// Bytes of a libmicrohttpd message that are examined; the relevant message is shorter.
  static let diagnostic = 160

  /// Incomplete heads among which the server searches the one that libmicrohttpd refuses; with more it responds itself.
  static let splitHeads = 64

  /// Bytes of a head that a connection caches, to recognize an identical next head.
  static let cachedHead = 1024

  /// Bytes of a request body; more is answered 413.
  ///
  /// A batch of two thousand targets of 128 bytes fits.
  static let requestBody = 256 * 1024

  /// Descriptors reserved for everything that is not a client: logs, probes, netlink, half-closed sockets,
  /// sockets of closed connections.
  static let descriptorReserve = 256

  /// Open connections, whatever the descriptor limit allows: at 10.5 KiB each this is 205 MiB.
  static let connections = 20_000

  /// Clients accepted from the kernel's queue before the listening socket closes: the whole queue.
  static let lastAccepts = Int(backlog)

  /// Connections accepted above the configured number, whose requests take the place of others or are answered 503.
  static let overload = 64

  /// The divisor for the reserve where the descriptor limit is low: at most one of this many descriptors is reserved.
  static let smallReserve = 2

  /// The lowest limit of connections; a lower one is an error.
  static let lowConnectionLimit = 64

  /// Seconds for which a TLS session can be resumed by its ticket.
  ///
  /// The keys of tickets change after three times as long. Monitoring systems and browsers return within an hour.
  static let ticketSeconds: Int32 = 3_600

  /// Certificates in a chain; the longest in public use have five.
  static let certificates = 16

  /// Attempts to get the lock of a Unix-domain socket's directory, and the pause between them: one second in total.
  static let lockAttempts = 50
  static let lockPauseMicroseconds: UInt32 = 20_000

  /// Open event streams, by default.
  static let streams = 10_000

  /// The maximum soft descriptor limit to request: above a million the kernel's own tables become expensive.
  static let descriptors: UInt64 = 1 << 20

  /// Seconds without a byte in either direction after which libmicrohttpd closes a connection.
  static let inactivitySeconds: UInt32 = 15

  /// Time for a complete request head; libmicrohttpd's inactivity timeout restarts with every byte.
  static let requestHead = Duration.seconds(10)

  /// Time for a complete request body after its head: 256 KiB at 9 KiB/s.
  static let requestBodyTime = Duration.seconds(30)

  /// Time until a promised response must be given; the longest poll is ten minutes.
  static let reply = Duration.seconds(660)

  /// Bytes of the log that a stream may be behind while its socket accepts nothing.
  static let streamLag = 512 * 1024

  /// Bytes of kernel buffer for a stream's socket: the default buffers 800 KB before a dead reader is detected.
  static let streamSendBuffer: Int32 = 32 * 1024

  /// The maximum bytes of a TCP segment: more than any link's frame, and a quarter of the kernel's size of that buffer.
  static let segment: Int32 = 16 * 1024

  /// Bytes that libmicrohttpd allocates for an unchunked (HTTP/1.0) stream; chunked ones use the connection's memory.
  static let streamBlock = 1024

  /// Half-closed sockets that are read until empty after a refusal, so that the client gets the response and no reset.
  static let lingering = 128

  /// The maximum time for which a half-closed socket is read.
  static let linger = Duration.seconds(2)

  /// Seconds in the Retry-After field of a 503: a drain or a burst is over by then.
  static let retryAfterSeconds = 2

  /// Turns that may skip the loop's own poll while libmicrohttpd has work: it saves a system call and delays a hang-up.
  static let unpolledPasses = 16

  /// Milliseconds of the pause between turns while libmicrohttpd waits only for handshakes and bodies.
  ///
  /// The pause begins after as many turns as ``unpolledPasses``.
  ///
  /// Input from a client ends the pause immediately. Over TLS, other responses proceed by about 16 KiB a turn
  /// meanwhile.
  static let handshakePause: Int32 = 20

  /// The server checks after each of this many first requests of a connection whether the client has closed its side.
  ///
  /// A client that sends further requests rarely closes its side with its last bytes, and a check is a system call.
  static let endCheckedRequests: UInt64 = 4

  /// Time after which the server sends bytes to a waiting client that has closed its side.
  ///
  /// They show whether the client still reads; by then most clients have their response.
  static let halfClosed = Duration.milliseconds(500)

  /// The interval at which those bytes are repeated while the client waits, like a stream's heartbeat.
  static let halfClosedRepeat = Duration.seconds(15)

  /// Time before the end of a stop's grace at which the remaining promised requests are answered 503.
  ///
  /// It is half of the grace if that is less.
  static let finalGrace = Duration.milliseconds(500)

  /// Time after the last accept for which a stop waits for first requests, and for the handshakes before them.
  ///
  /// It is a few round trips between continents; a client that sends nothing delays a stop no longer than this.
  static let lastRequests = Duration.seconds(1)

  /// Kernel events that one system call returns.
  static let polledEvents = 128
}
