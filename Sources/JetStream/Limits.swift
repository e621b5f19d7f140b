/// The bounds of this module, with unit and reason.
enum Limits {
  /// The largest payload to publish, in bytes: far below the server's default of 1 MiB, so that a message delays others
  /// by microseconds.
  static let payload = 131_072

  /// The highest sequence number of a message that is accepted: a million messages a second for a thousand years, so that
  /// the event ids that a fleet derives from it have 64 bits.
  static let sequence: UInt64 = 1 << 55

  /// Bytes for the headers of a message: this package sets one of about 60.
  static let headerBytes = 1_024

  /// Bytes that are kept while disconnected; 0 would be the library's 8 MB.
  ///
  /// It keeps the first message nevertheless, therefore ``NATSConnection`` sends none.
  static let reconnectBuffer: Int32 = 1

  /// Milliseconds to connect to one server: a server that is partitioned away must not delay the next one for long.
  static let connectTimeout: Int64 = 2_000

  /// Milliseconds between rounds over all servers, and the random addition: thousands of clients of a server that ended
  /// connect again over two seconds, and the others are tried without a wait.
  static let reconnectWait: Int64 = 250
  static let reconnectJitter: Int64 = 1_750

  /// Milliseconds between PINGs, and PINGs without PONG before the connection counts as lost: about 10 s.
  static let pingInterval: Int64 = 5_000
  static let pingsOut: Int32 = 2

  /// Milliseconds that a write may take: a server that does not read must not block a thread for longer.
  static let writeDeadline: Int64 = 2_000

  /// Messages and bytes that wait for one subscription's handler; more are dropped, which consumers notice by the
  /// sequence numbers.
  static let pendingMessages: Int32 = 65_536
  static let pendingBytes: Int32 = 67_108_864

  /// The wait before a consumer or reader tries again after an error.
  static let retryPause = Duration.seconds(1)

  /// The time limit of a request by a consumer or a reader: an election among the servers takes some seconds.
  static let requestTimeout = Duration.seconds(3)

  /// The time limit of the first attempt to create a consumer, that of its first heartbeat, and what each failure adds to
  /// both, up to ``requestTimeout``.
  ///
  /// During an election the servers drop requests without a response, or create a consumer on the server that is lost. The
  /// first attempt after it should be soon, also after an election of eight seconds; a server that is slow gets more time.
  static let creationTimeout = Duration.milliseconds(500)
  static let firstHeartbeatTimeout = Duration.milliseconds(750)
  static let attemptStep = Duration.milliseconds(250)

  /// The interval at which a reader looks for messages whose notification was lost.
  static let readInterval = Duration.seconds(5)

  /// The wait before a reader looks again after a notification: another server may answer, which has the message later.
  static let readAgain = Duration.milliseconds(250)

  /// The interval of heartbeats of an ordered consumer.
  static let heartbeat = Duration.milliseconds(250)

  /// How long a server keeps an ordered consumer without a subscriber.
  static let inactivity = Duration.seconds(30)

  /// Heartbeats that may be missing before an ordered consumer is created again.
  static let missedHeartbeats = 6

  /// The time since a stream's leader heard from another server after which that server counts as gone: servers send
  /// heartbeats every second.
  static let peerSilence = Duration.seconds(5)

  /// The bytes of a credentials file: a JWT has some hundred, with many permissions some thousand.
  static let credentialBytes = 65_536
}
