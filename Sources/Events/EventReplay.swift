package import EventStreams
package import History
internal import Locks

/// The events between a client's last one and the log, read from the store in pieces.
///
/// A client whose events are not stored gets a gap and the present state.
package final class EventReplay: StreamHistory {
  /// Bytes of one piece: a few milliseconds of a reading connection, and what a slow client holds in memory.
  private static let pieceBytes = 256 * 1024

  private struct State {
    /// The last event that was read.
    var sequence: UInt64
    var isAdmitted = false
    /// The place in the queue of the limiter.
    var ticket: EventReplayLimiter.Ticket?
  }

  private let feed: EventPublisher
  private let store: HistoryStore
  private let selection: EventLog.Selection
  private let client: String
  private let state: Locked<State>
  private var limiter: EventReplayLimiter { feed.history.replays }

  /// What the store has between the event with an id and the log; nil for an id of another history, for one after which
  /// the log has everything, or without a store.
  package init?(_ feed: EventPublisher, after text: String, _ selection: EventLog.Selection, client: String) {
    guard let store = feed.history.store, let sequence = feed.history.sequence(of: text),
      feed.history.isTooOld(sequence)
    else { return nil }
    self.feed = feed
    self.store = store
    self.selection = selection
    self.client = client
    state = Locked(State(sequence: sequence))
  }

  deinit { cancel() }

  /// Reads nothing more, and calls no completion if the replay has not begun: the client has disconnected.
  package func cancel() {
    if let ticket = state.withLock(\.ticket) { limiter.cancel(ticket) }
    end()
  }

  /// Lets another replay begin.
  private func end() {
    let wasAdmitted = state.withLock { state in
      defer { state.isAdmitted = false }
      return state.isAdmitted
    }
    if wasAdmitted { limiter.release() }
  }

  /// What one read of the store found.
  package enum Part: Sendable {
    /// The selected events up to a number; with the position in the log that follows, if the log has the next event.
    case events([EventLog.Entry], through: UInt64, EventLog.Cursor?)
    /// The next event after a number is not stored.
    case missing(after: UInt64)
    /// The events after a number could not be read.
    case failed(StoreError, after: UInt64)
  }

  /// Reads the next events; not again before the completion, and not after the last part.
  package func next(_ completion: @escaping @Sendable (Part) -> Void) {
    if state.withLock(\.isAdmitted) { return read(completion) }
    let ticket = limiter.admit(client) { [weak self] in
      // The client may have disconnected while it waited.
      guard let self else { return false }
      state.withLock { $0.isAdmitted = true }
      read(completion)
      return true
    }
    state.withLock { $0.ticket = ticket }
  }

  private func read(_ completion: @escaping @Sendable (Part) -> Void) {
    let sequence = state.withLock(\.sequence)
    store.events(after: sequence, limit: Self.pieceBytes) { [self] result in
      switch result {
      case .success(let found?):
        // A committed event is visible a moment later.
        let visible = store.visibleEnd
        completion(part(found.prefix { $0.sequence <= visible }, after: sequence))
      case .success(nil): completion(missing(after: sequence))
      case .failure(let error):
        end()
        completion(.failed(error, after: sequence))
      }
    }
  }

  private func part(_ events: ArraySlice<StoredEvent>, after sequence: UInt64) -> Part {
    // The log may have had the rest since it was checked, but not without the events of a gap.
    guard let last = events.last?.sequence ?? (feed.history.isTooOld(sequence) ? nil : sequence) else {
      return missing(after: sequence)
    }
    state.withLock { $0.sequence = last }
    let entries = events.lazy.map { EventLog.Entry($0) }.filter { [selection] in
      selection.wants(kind: $0.kind, $0.labels)
    }
    guard case .at(let cursor) = feed.history.log.cursor(after: last) else {
      return .events(Array(entries), through: last, nil)
    }
    end()
    return .events(Array(entries), through: last, cursor)
  }

  private func missing(after sequence: UInt64) -> Part {
    end()
    return .missing(after: sequence)
  }

  package func readNext(_ completion: @escaping @Sendable (StreamPiece) -> Void) {
    next { [feed] part in completion(Self.piece(part, feed)) }
  }

  private static func piece(_ part: Part, _ feed: EventPublisher) -> StreamPiece {
    switch part {
    case .events(let entries, _, let cursor):
      let frames = entries.flatMap(\.bytes)
      return cursor.map { .last(frames, $0) } ?? .more(frames)
    case .failed(.busy, _), .failed(.closed, _): return .unavailable
    case .missing(let sequence), .failed(_, let sequence):
      let gap = feed.history.gap(from: EventID(epoch: feed.history.epoch, sequence: sequence).description)
      let (snapshot, cursor) = feed.subscribe()
      return .last(SSEFrame.event("gap", gap) + snapshot, cursor)
    }
  }
}
