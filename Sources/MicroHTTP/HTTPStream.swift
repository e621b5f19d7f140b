/// An endless answer: a preamble, then the entries of an event log from a cursor on.
public struct HTTPStream: Sendable {
  /// The log to follow.
  public var log: EventLog
  /// Bytes sent first, together with the response's head.
  public var preamble: [UInt8]
  /// The first entry to send.
  public var cursor: EventLog.Cursor
  /// The entry kinds to send, one bit each; others are passed over.
  public var kinds: UInt64
  /// Makes the bytes that break a silence, given the id up to which everything was sent or passed over.
  public var heartbeat: @Sendable (_ lastID: UInt64) -> [UInt8]
  /// The silence after which a heartbeat is due.
  public var heartbeatInterval: Duration

  /// A stream of everything in `log` from `cursor` on.
  public init(
    log: EventLog, preamble: [UInt8] = [], cursor: EventLog.Cursor, kinds: UInt64 = .max,
    heartbeatInterval: Duration = .seconds(15), heartbeat: @escaping @Sendable (_ lastID: UInt64) -> [UInt8]
  ) {
    self.log = log
    self.preamble = preamble
    self.cursor = cursor
    self.kinds = kinds
    self.heartbeatInterval = heartbeatInterval
    self.heartbeat = heartbeat
  }
}
