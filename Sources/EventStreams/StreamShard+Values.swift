internal import EventLoop

extension StreamShard {
  /// A stream that the server's thread hands over to the shard.
  package struct StreamHandoff: Sendable {
    let descriptor: Int32
    let stream: HTTPStream
    /// The bytes of the head and the preamble that are not sent yet.
    let unsent: [UInt8]
    /// Retained until the stream ends.
    let slotAddress: (any AnyObject & Sendable)?

    /// Makes a handoff of a connected socket, which the shard closes.
    ///
    /// - Parameters:
    ///   - descriptor: The socket.
    ///   - stream: What the stream sends, without its preamble.
    ///   - unsent: Bytes to send first.
    ///   - slotAddress: An object that is retained until the stream ends.
    package init(descriptor: Int32, stream: HTTPStream, unsent: [UInt8], slotAddress: (any AnyObject & Sendable)?) {
      self.descriptor = descriptor
      self.stream = stream
      self.unsent = unsent
      self.slotAddress = slotAddress
    }
  }

  /// The state of a stream whose socket was full, or that began in the past.
  struct Backlog {
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
  }
}
