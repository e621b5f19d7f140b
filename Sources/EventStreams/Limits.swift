/// Every limit of this module, with its unit and its reason.
enum Limits {
  /// The time after which a lagging reader that takes no byte is disconnected; a burst takes less.
  static let streamStall = Duration.milliseconds(50)

  /// The time after which a stream that is behind and whose client takes no byte may be ended for the memory of its socket.
  static let stalledStream = Duration.seconds(1)

  /// The maximum number of threads that serve taken-over streams: half of the processors up to this number.
  ///
  /// More threads only wait for each other in the kernel.
  static let streamShards = 4

  /// The bytes copied out of a log in one step; a longer burst is sent in several steps.
  static let streamBatch = 256 * 1024

  /// The bytes read in one step for one stream that is behind.
  static let streamPiece = 64 * 1024

  /// Bytes of what a client sends on its stream that are discarded in one step.
  static let streamDiscard = 1024 * 1024

  /// Kernel events of streams that one system call returns: thousands of clients may disconnect together.
  static let polledStreams = 512
}
