/// Every bound of this room, with its unit and its reason.
enum Limits {
  /// Bytes a connection may use for its request head and its write buffer.
  ///
  /// Longer heads are answered 414 or 431. Measured: 128 KiB costs 13 % of the throughput, and every stream keeps its
  /// pool for as long as it lives.
  static let connectionMemory = 8192

  /// Bytes of an answer that is written past libmicrohttpd: half of what every process may ask of a socket's buffer
  /// (`net.core.wmem_max`), of which the kernel takes half for itself.
  static let rawResponse = 96 * 1024

  /// Connections that may wait in the kernel for `accept`: many clients that reconnect together should not be refused.
  static let backlog: Int32 = 4096

  /// Bytes of a message of libmicrohttpd that are looked at: the one that counts is shorter.
  static let diagnostic = 160

  /// Heads under way at once among which the one that libmicrohttpd refuses is looked for; it answers by itself beyond.
  static let splitHeads = 64

  /// Bytes of a head that a connection remembers, to know it again when the next one is the same.
  static let cachedHead = 1024

  /// Bytes of a request body; more is answered 413.
  ///
  /// A batch of two thousand targets of 128 bytes fits.
  static let requestBody = 256 * 1024

  /// Descriptors kept for everything that is not a client: logs, probes, netlink, half-closed sockets.
  static let descriptorReserve = 256

  /// Open connections, whatever the descriptor limit allows: at 8 KiB each this is 160 MiB.
  static let connections = 20_000

  /// Clients taken from the kernel's queue before the listening socket closes: all that it holds.
  static let lastAccepts = Int(backlog)

  /// Connections accepted above the configured number only to be told 503; beyond them the kernel's queue waits.
  static let overload = 64

  /// Of all descriptors, the part that may be kept where there are few: one of this many.
  static let smallReserve = 2

  /// The lowest limit of connections; a lower one is an error.
  static let lowConnectionLimit = 64

  /// Certificates in a chain; the longest in public use have five.
  static let certificates = 16

  /// Attempts to get the lock of a Unix-domain socket's directory, and the pause between them: a second in all.
  static let lockAttempts = 50
  static let lockPauseMicroseconds: UInt32 = 20_000

  /// Event streams at once, by default.
  static let streams = 10_000

  /// The soft descriptor limit asked for, at most: above a million the kernel's own tables start to cost.
  static let descriptors: UInt64 = 1 << 20

  /// Seconds without a byte in either direction after which libmicrohttpd closes a connection.
  static let inactivitySeconds: UInt32 = 15

  /// Time for a complete request head; libmicrohttpd's inactivity timeout restarts with every byte.
  static let requestHead = Duration.seconds(10)

  /// Time for a complete request body after its head: 256 KiB at 9 KiB/s.
  static let requestBodyTime = Duration.seconds(30)

  /// Time a promised answer may take; the longest poll is ten minutes.
  static let reply = Duration.seconds(660)

  /// Bytes of the log a stream may be behind while its socket takes nothing.
  static let streamLag = 512 * 1024

  /// Bytes of kernel buffer for a stream's socket: the default swallows 800 KB before a dead reader shows.
  static let streamSendBuffer: Int32 = 32 * 1024

  /// Bytes of a TCP segment, at most: more than any wire's frame, and a quarter of what the kernel makes of that buffer.
  static let segment: Int32 = 16 * 1024

  /// Bytes libmicrohttpd allocates beside an unchunked (HTTP/1.0) stream; chunked ones use the connection's memory.
  static let streamBlock = 1024

  /// Sockets that are half closed and read empty after a refusal, so that the client gets the answer and no reset.
  static let lingering = 128

  /// Time a half-closed socket is read at most.
  static let linger = Duration.seconds(2)

  /// Seconds a client is asked to stay away after a 503: a drain or a burst is over by then.
  static let retryAfterSeconds = 2

  /// Passes that may skip our own poll while libmicrohttpd still has work: saves a system call, delays a hang-up.
  static let unpolledPasses = 16

  /// Milliseconds without a turn while libmicrohttpd waits for nothing but handshakes and bodies, after as many turns as
  /// above.
  ///
  /// What clients send ends it at once. Over TLS other answers go on by some 16 KiB a turn meanwhile.
  static let handshakePause: Int32 = 20

  /// Requests of a connection after each of which is looked whether the client has closed its side: who asks for more hardly
  /// does so together with its last bytes, and a look is a system call.
  static let endCheckInterval: UInt64 = 4

  /// Time after which a client that closed its side while it waits is sent something, to find out whether it still reads:
  /// by then most have had their answer.
  static let halfClosed = Duration.milliseconds(500)

  /// Time after which it is sent something again, as long as it waits: what a stream's heartbeat is to a stream.
  static let halfClosedRepeat = Duration.seconds(15)

  /// Time before the end of a stop's grace at which those who still wait for an answer are told that there is none; half
  /// of the grace where that is less.
  static let finalGrace = Duration.milliseconds(500)

  /// Time after the last accept for which a stop waits for first requests, and for the handshakes before them.
  ///
  /// It is a few round trips between continents; a client that sends nothing delays a stop no longer than this.
  static let lastRequests = Duration.seconds(1)

  /// Kernel events fetched in one system call.
  static let polledEvents = 128
}
