/// The bounds of this module, with unit and reason.
enum Limits {
  /// The largest payload to publish, in bytes: three quarters of the server's default of 1 MiB.
  static let payload = 786_432

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

  /// The pause before ended subscriptions are released, so that one flush serves many, and how long a flush may take.
  static let endedSubscriptionPause = Duration.seconds(1)
  static let endedSubscriptionFlush = Duration.seconds(2)

  /// Ended subscriptions that wait for a flush, in number, of some hundred bytes each; with more, no subscription begins.
  static let endedSubscriptions = 10_000

  /// The bytes of a credentials file: a JWT has some hundred, with many permissions some thousand.
  static let credentialBytes = 65_536

  /// The bytes of the first line that a server sends: some hundred, and an address for each server of a cluster.
  static let greetingBytes = 16_384
}
