internal import Synchronization

/// A response of unknown length: a preamble, then the entries of event logs, each from a cursor on.
public struct EventStreamResponse: Sendable {
  /// A log, the position to start from, and the selected entries.
  public struct Feed: Sendable {
    /// The log to follow.
    public var log: EventLog
    /// The first entry to send.
    public var cursor: EventLog.Cursor
    /// The entries to send; the stream skips the others.
    public var selection: EventLog.Selection

    /// Makes a feed of the entries that `selection` selects in `log` from `cursor` on.
    public init(log: EventLog, cursor: EventLog.Cursor, selection: EventLog.Selection = EventLog.Selection()) {
      self.log = log
      self.cursor = cursor
      self.selection = selection
    }
  }

  /// The bytes a stream sends after a time without traffic.
  ///
  /// It is a value and not a closure, so that streams with equal heartbeats share one.
  public struct Heartbeat: Sendable, Hashable {
    /// The time without traffic after which a heartbeat is due.
    public var interval: Duration
    /// The bytes of every heartbeat.
    public var bytes: [UInt8]
    /// Bytes before and after the id, in decimal, up to which everything was sent or skipped; nil for no id.
    public var position: Position?

    /// The bytes around an id.
    public struct Position: Sendable, Hashable {
      /// The bytes before the id.
      public var prefix: [UInt8]
      /// The bytes after it.
      public var suffix: [UInt8]

      /// Makes the two texts around an id.
      public init(prefix: [UInt8], suffix: [UInt8]) {
        self.prefix = prefix
        self.suffix = suffix
      }
    }

    /// Makes a heartbeat, by default after 15 s and without an id.
    public init(interval: Duration = .seconds(15), bytes: [UInt8], position: Position? = nil) {
      self.interval = interval
      self.bytes = bytes
      self.position = position
    }

    /// Returns the heartbeat of a stream that has received everything up to an id.
    public func bytes(lastID: UInt64) -> [UInt8] {
      guard let position else { return bytes }
      return bytes + position.prefix + Array(String(lastID).utf8) + position.suffix
    }
  }

  /// The time after which a lagging reader that takes no byte is disconnected.
  package static let stallTime = Limits.streamStall

  /// The logs to follow, at least one; heartbeats report the position in the first.
  public var feeds: [Feed]
  /// The bytes to send first, together with the response's head.
  public var preamble: [UInt8]
  /// What to send between the preamble and the entries; the cursor of the first feed is not used then.
  public var history: (any StreamHistory)?
  /// The heartbeat of the stream.
  public var heartbeat: Heartbeat
  /// The id of the entry in the first log after which the stream ends; nil for a stream without an end.
  public var endsAfter: UInt64?
  /// An object that is retained while the stream is open, and released on a thread of the server when it has ended.
  public var attachment: (any AnyObject & Sendable)?
  /// Whether the client may still receive the stream; nil if it always may.
  ///
  /// It is called after every ``Heartbeat/interval`` at the latest, on a thread of the server, and must not block. If
  /// it returns false, the connection is closed without the end of the body.
  public var isPermitted: (@Sendable () -> Bool)?
  /// Reports the abandonment of the stream; settled when the stream has reached its own end.
  package let abandonment: StreamAbandonment?

  /// Makes a stream of the entries of its feeds.
  ///
  /// - Parameters:
  ///   - feeds: The logs to follow, at least one.
  ///   - preamble: The bytes to send first.
  ///   - history: What to send between the preamble and the entries.
  ///   - heartbeat: The bytes to send after a time without traffic.
  ///   - endsAfter: The id of the last entry; nil for a stream without an end.
  ///   - attachment: An object that is retained while the stream is open.
  ///   - onAbandonment: Called at most once, when no reader remains for the rest of the stream: its client has
  ///     disconnected, it was refused, or it was never sent. Not called when the stream ends by itself. It may run on
  ///     any thread, mostly the server's, and must not block.
  public init(
    feeds: [Feed], preamble: [UInt8] = [], history: (any StreamHistory)? = nil, heartbeat: Heartbeat,
    endsAfter: UInt64? = nil,
    attachment: (any AnyObject & Sendable)? = nil, onAbandonment: (@Sendable () -> Void)? = nil
  ) {
    precondition(!feeds.isEmpty, "a stream follows at least one log")
    self.feeds = feeds
    self.preamble = preamble
    self.history = history
    self.heartbeat = heartbeat
    self.endsAfter = endsAfter
    self.attachment = attachment
    abandonment = onAbandonment.map(StreamAbandonment.init)
  }
}

/// Reports a stream that did not reach its own end, when the last copy of the stream is released.
package final class StreamAbandonment: Sendable {
  private let body: @Sendable () -> Void
  private let isOver = Atomic(false)

  init(_ body: @escaping @Sendable () -> Void) { self.body = body }

  /// Marks the stream as ended, so that nothing is reported.
  package func markComplete() { isOver.store(true, ordering: .releasing) }

  deinit {
    if !isOver.load(ordering: .acquiring) { body() }
  }
}
