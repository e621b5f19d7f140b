internal import EventLoop

extension StreamShard {
  /// A stream on its way from the server's thread to this one.
  package struct StreamHandoff: Sendable {
    let descriptor: Int32
    let stream: HTTPStream
    /// What of head and preamble is not sent yet.
    let unsent: [UInt8]
    /// Kept until the stream ends.
    let slotAddress: (any AnyObject & Sendable)?

    /// A stream on a connected socket that the shard closes.
    ///
    /// - Parameters:
    ///   - descriptor: The socket.
    ///   - stream: What the stream sends, without its preamble.
    ///   - unsent: Bytes to send first.
    ///   - slotAddress: Kept until the stream ends.
    package init(descriptor: Int32, stream: HTTPStream, unsent: [UInt8], slotAddress: (any AnyObject & Sendable)?) {
      self.descriptor = descriptor
      self.stream = stream
      self.unsent = unsent
      self.slotAddress = slotAddress
    }
  }

  /// What a stream is missing whose socket was full, or that began in the past.
  struct Backlog {
    /// Where it stands in its feeds' logs.
    var cursors: [EventLog.Cursor]
    /// Bytes that come before the logs go on: preamble, the rest of a heartbeat, close event.
    var outbox: [UInt8] = []
    var outboxSent = 0
    var hasCloseEvent = false
    /// Bytes it may be behind: a replay may begin further back than a slow reader may fall.
    var lagLimit: Int
    /// When it last took bytes.
    var lastTaken: MonotonicInstant
  }
}
