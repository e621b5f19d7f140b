/// The bounds of this module, with unit and reason.
enum Limits {
  /// The largest payload to store, in bytes: far below the server's default of 1 MiB, so that a message delays others
  /// by microseconds.
  static let payload = 131_072

  /// The highest sequence number of a message that is accepted: a million messages a second for a thousand years, so that
  /// the event ids that a fleet derives from it have 64 bits.
  static let sequence: UInt64 = 1 << 55

  /// Bytes for the headers of a message, which count towards the stream's limit: this package sets one of about 60, and a
  /// cluster adds some.
  static let headerBytes = 1_024

  /// Publications that wait for their acknowledgements on one connection, in number.
  static let publications = 16_384

  /// How often publications are searched for those whose time has passed.
  static let expiryInterval = Duration.milliseconds(100)

  /// The wait before a consumer tries again after an error.
  static let retryPause = Duration.seconds(1)

  /// The longest time limit of a request by a consumer: an election among the servers takes some seconds.
  static let requestTimeout = Duration.seconds(3)

  /// The time limit of the first attempt to create a consumer, that of its first heartbeat, and what each failure adds to
  /// both, up to ``requestTimeout``.
  ///
  /// During an election the servers drop requests without a response, or create a consumer on the server that is lost. The
  /// first attempt after it should be soon, also after an election of eight seconds; a server that is slow gets more time.
  static let creationTimeout = Duration.milliseconds(500)
  static let firstHeartbeatTimeout = Duration.milliseconds(750)
  static let attemptStep = Duration.milliseconds(250)

  /// The time for which a longer time limit is kept that was sufficient.
  static let attemptMemory = Duration.seconds(30)

  /// The interval of heartbeats of an ordered consumer.
  static let heartbeat = Duration.milliseconds(250)

  /// How long a server keeps an ordered consumer without a subscriber.
  static let inactivity = Duration.seconds(30)

  /// Heartbeats that may be missing before an ordered consumer is created again.
  static let missedHeartbeats = 6

  /// The time since a stream's leader heard from another server after which that server counts as gone: servers send
  /// heartbeats every second.
  static let peerSilence = Duration.seconds(5)
}
