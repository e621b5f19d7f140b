/// Every limit of this module, with its unit and its reason.
enum Limits {
  /// Time without a taken byte after which a reader that is behind is closed: a burst takes less.
  static let streamStall = Duration.milliseconds(50)

  /// Threads that serve taken-over streams, at most: half of the processors up to this number; more threads would only
  /// wait for each other in the kernel.
  static let streamShards = 4

  /// Bytes copied out of a log in one step; a longer burst is sent in several.
  static let streamBatch = 256 * 1024

  /// Bytes read for one stream that is behind, in one step.
  static let streamPiece = 64 * 1024

  /// Bytes of what a client sends on its stream that are discarded in one step.
  static let streamDiscard = 1024 * 1024

  /// Kernel events of streams that one system call returns: thousands of clients may disconnect together.
  static let polledStreams = 512
}
