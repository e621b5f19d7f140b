internal import Synchronization

/// An answer of unknown length: a preamble, then the entries of event logs, from a cursor in each on.
public struct HTTPStream: Sendable {
  /// A log, from where on, and what of it.
  public struct Feed: Sendable {
    /// The log to follow.
    public var log: EventLog
    /// The first entry to send.
    public var cursor: EventLog.Cursor
    /// The entries to send; others are passed over.
    public var selection: EventLog.Selection

    /// What `selection` chooses of `log` from `cursor` on.
    public init(log: EventLog, cursor: EventLog.Cursor, selection: EventLog.Selection = EventLog.Selection()) {
      self.log = log
      self.cursor = cursor
      self.selection = selection
    }
  }

  /// What breaks a silence.
  ///
  /// A value and no closure, so that streams that say the same share it.
  public struct Heartbeat: Sendable, Hashable {
    /// The silence after which one is due.
    public var interval: Duration
    /// The bytes that are always sent.
    public var bytes: [UInt8]
    /// Bytes before and after the id up to which everything was sent or passed over, in decimal; nil for no id.
    public var position: Position?

    /// The bytes around an id.
    public struct Position: Sendable, Hashable {
      /// The bytes before the id.
      public var prefix: [UInt8]
      /// The bytes after it.
      public var suffix: [UInt8]

      /// An id between two texts.
      public init(prefix: [UInt8], suffix: [UInt8]) {
        self.prefix = prefix
        self.suffix = suffix
      }
    }

    /// A heartbeat, by default after 15 s and without an id.
    public init(interval: Duration = .seconds(15), bytes: [UInt8], position: Position? = nil) {
      self.interval = interval
      self.bytes = bytes
      self.position = position
    }

    /// The heartbeat of a stream that knows everything up to an id.
    public func bytes(lastID: UInt64) -> [UInt8] {
      guard let position else { return bytes }
      return bytes + position.prefix + Array(String(lastID).utf8) + position.suffix
    }
  }

  /// Time without a taken byte after which a reader that is behind is closed.
  package static let stallTime = Limits.streamStall

  /// The logs to follow, at least one; heartbeats tell the position in the first.
  public var feeds: [Feed]
  /// Bytes sent first, together with the response's head.
  public var preamble: [UInt8]
  /// What breaks a silence.
  public var heartbeat: Heartbeat
  /// The id of the entry in the first log after which the stream ends by itself; nil for a stream without an end.
  public var endsAfter: UInt64?
  /// Kept for as long as the stream is open, and let go of on some thread of the server when it has ended.
  public var attachment: (any AnyObject & Sendable)?
  /// Calls what the stream's maker wants to know; settled when the stream has come to its own end.
  package let abandonment: StreamAbandonment?

  /// A stream of what the feeds bring.
  ///
  /// - Parameters:
  ///   - feeds: The logs to follow, at least one.
  ///   - preamble: Bytes sent first.
  ///   - heartbeat: What breaks a silence.
  ///   - endsAfter: The id of the last entry; nil for a stream without an end.
  ///   - attachment: Kept for as long as the stream is open.
  ///   - onAbandonment: Called at most once, when no reader remains for the rest of the stream: its client has
  ///     disconnected, it was refused, or it was never sent. Not called when the stream ends by itself. It may run on
  ///     any thread, mostly the server's, and must not block.
  public init(
    feeds: [Feed], preamble: [UInt8] = [], heartbeat: Heartbeat, endsAfter: UInt64? = nil,
    attachment: (any AnyObject & Sendable)? = nil, onAbandonment: (@Sendable () -> Void)? = nil
  ) {
    precondition(!feeds.isEmpty, "a stream follows at least one log")
    self.feeds = feeds
    self.preamble = preamble
    self.heartbeat = heartbeat
    self.endsAfter = endsAfter
    self.attachment = attachment
    abandonment = onAbandonment.map(StreamAbandonment.init)
  }
}

/// Reports a stream that did not come to its own end, when the last copy of the stream is released.
package final class StreamAbandonment: Sendable {
  private let body: @Sendable () -> Void
  private let isOver = Atomic(false)

  init(_ body: @escaping @Sendable () -> Void) { self.body = body }

  /// The stream came to its own end: nothing is reported.
  package func markComplete() { isOver.store(true, ordering: .releasing) }

  deinit {
    if !isOver.load(ordering: .acquiring) { body() }
  }
}
