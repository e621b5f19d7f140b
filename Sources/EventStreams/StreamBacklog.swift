internal import EventLoop

/// The state of a stream whose socket was full, or that began in the past.
struct StreamBacklog {
  /// What to send before the entries; nil when everything was read.
  var history: (any StreamHistory)?
  /// The next piece of the history was requested.
  var awaitsPiece = false
  /// The positions in the logs of its feeds.
  var cursors: [EventLog.Cursor]
  /// Bytes to send before further entries: preamble, the rest of a heartbeat, close event.
  var outbox: [UInt8] = []
  var outboxSent = 0
  var hasCloseEvent = false
  /// The bytes that the stream may be behind: a replay may begin further back than a slow reader may fall.
  var lagLimit: Int
  /// When the client last took bytes.
  var lastTaken: MonotonicInstant

  /// Nothing is sent until the next piece of the history arrives.
  var isIdle: Bool { awaitsPiece && outbox.isEmpty }
}
