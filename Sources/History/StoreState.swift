/// Whether events are committed before they are published.
public enum StoreState: Hashable, Sendable {
  /// Every event is committed before it is published.
  case keeping
  /// The disk does not keep up, or has failed: events are published immediately and kept in memory for the disk.
  ///
  /// `since` is in microseconds since 1970.
  case detached(reason: String, since: Int64)
  /// The store was closed.
  case closed
}

/// What a store had when it was opened.
public struct RecoveredStoreState: Sendable {
  /// The epoch of the ids: the stored one, or a new one.
  public var epoch: String
  /// The number of the last event of the epoch; 0 for none.
  public var lastSequence: UInt64
  /// The newest events of the epoch without a hole between them, oldest first, at most 2 MiB.
  public var events: [StoredEvent]
  /// The states of subjects by name.
  public var subjects: [String: [UInt8]]
  /// The registered targets.
  public var targets: [TargetRecord]
  /// How the last run ended.
  public var lastEnd: HistoryRunEnd
  /// The number of this run, from 1.
  public var run: Int64
  /// The time since the last run has stored something, including sleep; nil when the machine was started since then.
  public var idle: Duration?

  /// Makes the state of an empty store.
  public init(epoch: String, lastEnd: HistoryRunEnd = .none, run: Int64 = 0) {
    self.epoch = epoch
    self.lastEnd = lastEnd
    self.run = run
    lastSequence = 0
    events = []
    subjects = [:]
    targets = []
  }
}

/// An event that was read back.
public struct StoredEvent: Sendable, Equatable {
  /// The number within the epoch.
  public var sequence: UInt64
  /// When it happened, in microseconds since 1970.
  public var time: Int64
  /// The kind of the entry in the event log.
  public var kind: UInt8
  /// `machine`, `interface:eth0`, `target:db`.
  public var subject: String
  /// The frame for event streams.
  public var body: [UInt8]

  /// Makes an event from its parts.
  public init(sequence: UInt64, time: Int64, kind: UInt8, subject: String, body: [UInt8]) {
    self.sequence = sequence
    self.time = time
    self.kind = kind
    self.subject = subject
    self.body = body
  }
}
