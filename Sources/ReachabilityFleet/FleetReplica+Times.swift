extension FleetReplica {
  /// The time between two comparisons of the stream with the fold: a consumer beyond the end of a rebuilt stream waits
  /// for ever.
  static let checkInterval = Duration.seconds(10)
  /// The pause before an interrupted consumption begins again: an engine that refuses it must not be asked in a loop.
  static let interruptionPause = Duration.seconds(1)
  /// The time between two considerations of silence.
  static let roundInterval = Duration.seconds(1)
  /// The time between two reviews while the stream has more messages: votes that change together are counted once.
  static let reviewPause = Duration.milliseconds(200)
  /// A pause of the process after which a node without messages is not silent.
  static let stall = Duration.seconds(3)
}
