internal import DequeModule
internal import EventStreams
internal import History
internal import Locks

/// Reads the events between a client's last one and the log from the store.
final class EventReplay: Sendable {
  /// Bytes of one read: a few milliseconds of a reading connection.
  private static let pieceBytes = 256 * 1024
  /// Bytes of one replay; a client that misses more gets a gap and the present state.
  private static let limit = 16 << 20
  /// Replays at a time, each with its frames in memory; others wait.
  private static let concurrency = 8

  /// The frames, and the position in the log after them.
  struct Result: Sendable {
    var frames: [UInt8]
    var cursor: EventLog.Cursor
  }

  private struct State {
    var running = 0
    var waiting: Deque<@Sendable () -> Void> = []
  }

  private let store: HistoryStore
  private let log: EventLog
  private let state = Locked(State())

  init(_ store: HistoryStore, _ log: EventLog) {
    self.store = store
    self.log = log
  }

  /// Reads the selected events after a number; `completion` receives nil if one of the events is not stored.
  func read(
    after sequence: UInt64, _ selection: EventLog.Selection, _ completion: @escaping @Sendable (Result?) -> Void
  ) {
    let start: @Sendable () -> Void = { [self] in
      step(sequence, selection, frames: [], bytes: 0) { [self] result in
        completion(result)
        end()
      }
    }
    let isAdmitted = state.withLock { state in
      guard state.running < Self.concurrency else {
        state.waiting.append(start)
        return false
      }
      state.running += 1
      return true
    }
    if isAdmitted { start() }
  }

  private func end() {
    let next = state.withLock { state in
      let next = state.waiting.popFirst()
      if next == nil { state.running -= 1 }
      return next
    }
    next?()
  }

  private func step(
    _ sequence: UInt64, _ selection: EventLog.Selection, frames: [UInt8], bytes: Int,
    _ completion: @escaping @Sendable (Result?) -> Void
  ) {
    if case .at(let cursor) = log.cursor(after: sequence) {
      return completion(Result(frames: frames, cursor: cursor))
    }
    guard bytes < Self.limit else { return completion(nil) }
    store.events(after: sequence, limit: Self.pieceBytes) { [self] result in
      guard case .success(let found?) = result else { return completion(nil) }
      // A committed event is visible a moment later.
      let visible = store.visibleEnd
      let events = found.prefix { $0.sequence <= visible }
      guard let last = events.last?.sequence else { return completion(nil) }
      var frames = frames
      for event in events {
        let entry = EventPublisher.entry(event)
        if selection.wants(kind: entry.kind, topic: entry.topic) { frames += entry.bytes }
      }
      step(last, selection, frames: frames, bytes: bytes + events.reduce(0) { $0 + $1.body.count }, completion)
    }
  }
}
