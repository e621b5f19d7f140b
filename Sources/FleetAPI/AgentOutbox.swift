internal import Events
internal import Dispatch
internal import EventStreams
internal import History
internal import Locks
internal import ReachabilityChecks
public import ReachabilityFleet

/// The changes of fleet targets that wait for the engine, read from this service's events.
///
/// The store is the truth: the outbox is a window into its events that is filled again when it begins too late. Without a
/// store, and while the disk is not waited for, the events in memory are read.
public final class AgentOutbox: FleetStore {
  private struct State: Sendable {
    var outbox: FleetOutbox
    /// The numbers that were deleted before they were published.
    var missing: UInt64 = 0
    /// The reads of all cells that wait until events up to a number are visible.
    var waiting: [Waiting] = []
    /// The last acknowledgement of this process, and what of it has to be stored; nil when it is.
    var acknowledgement: FleetAcknowledgement?
    var unsaved: FleetAcknowledgement?
    var isSaving = false
    var observers: [@Sendable (UInt64) -> Void] = []
  }

  private struct Waiting: Sendable {
    var base: FleetAgentBase
    var completion: @Sendable (Result<FleetAgentBase, FleetStoreError>) -> Void
  }

  /// Bytes of events per read of the store, which must not keep its log for long.
  private static let readBytes = 262_144

  /// The epoch of this service's events.
  public var epoch: String { events.epoch }
  private let events: EventHistory
  private let schedule: CheckSchedule
  private let lastNumber: @Sendable () -> UInt64
  private let state: Locked<State>
  /// Fills the outbox, one read after the other.
  private let queue = DispatchQueue(label: "outbox")

  init(_ publisher: EventPublisher, _ schedule: CheckSchedule) {
    events = publisher.history
    self.schedule = schedule
    // Changes of targets are numbered under the schedule's lock, and reach the publisher before it is released.
    lastNumber = { [publisher] in publisher.latest.lastSequence }
    state = Locked(State(outbox: FleetOutbox(after: 0)))
    _ = events.log.register { [weak self] in self?.notify() }
    events.store?.writeToNewFile { [weak self] (connection) throws(StoreQueryError) in
      if let last = self?.state.withLock(\.acknowledgement) { try HistoryPublishedEvents(last).save(connection) }
    }
  }

  /// The number of the last visible event.
  public var end: UInt64 { events.end }

  /// The events that were deleted before they were published, since the start.
  public var missing: UInt64 { state.withLock(\.missing) }

  /// Calls a closure after events have become visible, with the number of the last one; it must not block.
  public func observe(_ observer: @escaping @Sendable (UInt64) -> Void) {
    state.withLock { $0.observers.append(observer) }
  }

  private func notify() {
    let end = events.end
    let (ready, observers) = state.withLock { state in
      let ready = state.waiting.filter { $0.base.number <= end }
      state.waiting.removeAll { $0.base.number <= end }
      return (ready, state.observers)
    }
    for wait in ready { queue.async { wait.completion(.success(wait.base)) } }
    for observer in observers { observer(end) }
  }

  // MARK: - Changes

  /// Reads the changes after a number, and fills the outbox before.
  public func changes(
    after number: UInt64, limit: Int, completion: @escaping @Sendable (Result<FleetOutboxPage, FleetStoreError>) -> Void
  ) {
    state.withLock { state in
      if number < state.outbox.start || number > state.outbox.through { state.outbox = FleetOutbox(after: number) }
    }
    queue.async { [self] in fill { completion($0.map { self.page(after: number, limit) }) } }
  }

  private func page(after number: UInt64, _ limit: Int) -> FleetOutboxPage {
    state.withLock { $0.outbox.page(after: number, limit: limit) }
  }

  /// Reads everything that is visible, and then completes.
  private func fill(_ completion: @escaping @Sendable (Result<Void, FleetStoreError>) -> Void) {
    let through = state.withLock(\.outbox.through)
    events.read(after: through, limit: Self.readBytes) { [self] batch in
      switch batch {
      case .end: return completion(.success(()))
      case .failed: return completion(.failure(FleetStoreError("the store cannot be read now")))
      case .missing(let last):
        // Deleted by retention, or, in memory only, beyond the capacity of the log. What was read before is published
        // first: the next page begins after the missing events, so that readers see that they are missing.
        let isEmpty = state.withLock { state in
          guard state.outbox.count == 0 else { return false }
          state.missing &+= last - min(last, state.outbox.through)
          state.outbox = FleetOutbox(after: last)
          return true
        }
        guard isEmpty else { return completion(.success(())) }
      case .events(let found):
        let changes = found.map { (number: $0.sequence, change: Event(data: $0.data).flatMap { FleetCellChange($0) }) }
        state.withLock { state in
          for event in changes {
            if let change = event.change { state.outbox.append(change) }
            state.outbox.advance(through: event.number)
          }
        }
      }
      queue.async { self.fill(completion) }
    }
  }

  // MARK: - Cells

  /// Reads all cells, and waits until the events that they include are visible.
  public func base(completion: @escaping @Sendable (Result<FleetAgentBase, FleetStoreError>) -> Void) {
    let (reports, number) = schedule.reports(of: .fleet, with: lastNumber)
    let base = FleetAgentBase(
      number: number, cells: reports.map { FleetBaseCell($0.definition.id, FleetCellState($0)) })
    let isReady = state.withLock { state in
      guard base.number > events.end else { return true }
      state.waiting.append(Waiting(base: base, completion: completion))
      return false
    }
    if isReady { queue.async { completion(.success(base)) } } else { notify() }
  }

  // MARK: - Acknowledgements

  /// Reads what an earlier process has stored; nil for nothing, and without a store.
  public func load(completion: @escaping @Sendable (FleetAcknowledgement?) -> Void) {
    guard let store = events.store else { return completion(nil) }
    store.read(
      { (connection) throws(StoreQueryError) in try HistoryPublishedEvents(connection) },
      completion: { result in completion((try? result.get()).flatMap { $0 }.map { FleetAcknowledgement($0) }) })
  }

  /// Stores what the engine has acknowledged, and removes it from the outbox.
  public func save(_ acknowledgement: FleetAcknowledgement) {
    state.withLock { state in
      state.outbox.discard(through: acknowledgement.acked)
      state.acknowledgement = acknowledgement
      state.unsaved = acknowledgement
    }
    flush()
  }

  /// Stores the latest acknowledgement, one transaction at a time.
  private func flush() {
    guard let store = events.store else { return }
    let next = state.withLock { state -> FleetAcknowledgement? in
      guard !state.isSaving, let unsaved = state.unsaved else { return nil }
      state.isSaving = true
      state.unsaved = nil
      return unsaved
    }
    guard let next else { return }
    store.write { (connection) throws(StoreQueryError) in
      try HistoryPublishedEvents(next).save(connection)
    } completion: { [weak self] result in
      guard let self else { return }
      let isAgain = state.withLock { state in
        state.isSaving = false
        // What was not stored is stored with the next acknowledgement.
        if case .failure = result, state.unsaved == nil { state.unsaved = next }
        return state.unsaved != nil && (try? result.get()) != nil
      }
      if isAgain { flush() }
    }
  }
}

extension HistoryPublishedEvents {
  init(_ acknowledgement: FleetAcknowledgement) {
    self.init(
      epoch: acknowledgement.epoch, through: Int64(clamping: acknowledgement.acked),
      throughEver: Int64(clamping: acknowledgement.ackedEver))
  }
}

extension FleetAcknowledgement {
  init(_ stored: HistoryPublishedEvents) {
    self.init(
      epoch: stored.epoch, acked: UInt64(clamping: stored.through), ackedEver: UInt64(clamping: stored.throughEver))
  }
}
