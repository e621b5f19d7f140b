internal import DequeModule
internal import EventStreams
internal import History
internal import Locks

/// The events between a client's last one and the log, read from the store in pieces.
///
/// A client whose events are not stored gets a gap and the present state.
final class EventReplay: StreamHistory {
  /// Bytes of one piece: a few milliseconds of a reading connection, and what a slow client holds in memory.
  private static let pieceBytes = 256 * 1024

  private struct State {
    /// The last event that was read.
    var sequence: UInt64
    var isAdmitted = false
  }

  private let feed: EventPublisher
  private let store: HistoryStore
  private let selection: EventLog.Selection
  private let limiter: ReplayLimiter
  private let state: Locked<State>

  init(
    _ feed: EventPublisher, _ store: HistoryStore, after sequence: UInt64, _ selection: EventLog.Selection,
    _ limiter: ReplayLimiter
  ) {
    self.feed = feed
    self.store = store
    self.selection = selection
    self.limiter = limiter
    state = Locked(State(sequence: sequence))
  }

  deinit { end() }

  /// Lets another replay begin.
  private func end() {
    let wasAdmitted = state.withLock { state in
      defer { state.isAdmitted = false }
      return state.isAdmitted
    }
    if wasAdmitted { limiter.release() }
  }

  func readNext(_ completion: @escaping @Sendable (StreamPiece) -> Void) {
    if state.withLock(\.isAdmitted) { return read(completion) }
    limiter.admit { [weak self, limiter] in
      // The client may have disconnected while it waited.
      guard let self else { return limiter.release() }
      state.withLock { $0.isAdmitted = true }
      read(completion)
    }
  }

  private func read(_ completion: @escaping @Sendable (StreamPiece) -> Void) {
    let sequence = state.withLock(\.sequence)
    store.events(after: sequence, limit: Self.pieceBytes) { [self] result in
      switch result {
      case .success(let found?):
        // A committed event is visible a moment later.
        let visible = store.visibleEnd
        completion(piece(found.prefix { $0.sequence <= visible }, after: sequence))
      case .failure(.busy), .failure(.closed): completion(.unavailable)
      case .success(nil), .failure: completion(gap(after: sequence))
      }
    }
  }

  private func piece(_ events: ArraySlice<StoredEvent>, after sequence: UInt64) -> StreamPiece {
    // The log may have had the rest since it was checked, but not without the events of a gap.
    guard let last = events.last?.sequence ?? (feed.isTooOld(sequence) ? nil : sequence) else {
      return gap(after: sequence)
    }
    state.withLock { $0.sequence = last }
    var frames: [UInt8] = []
    for entry in events.lazy.map(EventPublisher.entry) where selection.wants(kind: entry.kind, topic: entry.topic) {
      frames += entry.bytes
    }
    guard case .at(let cursor) = feed.log.cursor(after: last) else { return .more(frames) }
    end()
    return .last(frames, cursor)
  }

  private func gap(after sequence: UInt64) -> StreamPiece {
    let gap = EventRoutes.gap(feed, from: EventID(epoch: feed.epoch, sequence: sequence).description)
    let (snapshot, cursor) = feed.subscribe()
    end()
    return .last(SSEFrame.event("gap", gap) + snapshot, cursor)
  }
}

/// Limits the replays at a time, because each holds a piece in memory and reads the disk; others wait in order.
final class ReplayLimiter: Sendable {
  /// Replays at a time.
  private static let limit = 8

  private struct State {
    var running = 0
    var waiting: Deque<@Sendable () -> Void> = []
  }

  private let state = Locked(State())

  /// Runs a closure now or when another replay has ended; ``release()`` must follow.
  func admit(_ body: @escaping @Sendable () -> Void) {
    let isAdmitted = state.withLock { state in
      guard state.running < Self.limit else {
        state.waiting.append(body)
        return false
      }
      state.running += 1
      return true
    }
    if isAdmitted { body() }
  }

  /// Ends a replay.
  func release() {
    let next = state.withLock { state in
      let next = state.waiting.popFirst()
      if next == nil { state.running -= 1 }
      return next
    }
    next?()
  }
}
