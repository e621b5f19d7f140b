internal import DequeModule
package import EventStreams
package import History
internal import Locks
package import NetworkReachability

/// Encodes transitions once: as log entries for streams and as documents for requests.
///
/// It is called under the engine's lock, so that the log has every event in order and no document is older than the
/// event that announced it. With a store, events, documents and notifications wait until the events are committed.
package final class EventPublisher: TransitionSink {
  package struct Changes: Sendable {
    /// Whether the state of the machine has changed in any respect.
    package var state = false
    /// Whether the document of `/status` has changed.
    package var status = false
    /// Whether the document of `/interfaces` has changed.
    package var interfaces = false
    package var targets: Set<String> = []
    /// The transitions of these targets.
    package var transitions: [Transition] = []

    mutating func add(_ other: Changes) {
      state = state || other.state
      status = status || other.status
      interfaces = interfaces || other.interfaces
      targets.formUnion(other.targets)
      transitions += other.transitions
    }
  }

  /// The documents, and what waits for its commit.
  private struct State {
    /// The documents after every transition so far.
    var latest: StateDocuments
    /// The documents that requests get while events wait for their commit; nil when none waits.
    var published: StateDocuments?
    var waiting: Deque<Publication> = []
    var recorder: EventRecorder?

    var visible: StateDocuments { published ?? latest }
  }

  /// What becomes visible together: the events of one reading, or one change.
  private struct Publication {
    var entries: [EventLog.Entry] = []
    /// The rows of the events; none without a store.
    var records: [EventRecord] = []
    var changes = Changes()
    /// The state afterwards, with the number of the last event.
    var documents: StateDocuments
  }

  /// The visible events.
  package let history: EventHistory
  private let willPublish: @Sendable () -> Void
  private let didPublish: @Sendable (Changes) -> Void
  private let guarded: Locked<State>

  /// Makes a publisher with an empty log, or with the newest events of a store.
  ///
  /// It calls the closures before and after the log has the events of a changed state; a client that has received one gets
  /// the new document. They must be quick, because the engine's lock may be held.
  package init(
    epoch: String? = nil, historyBytes: Int = EventHistory.defaultBytes, store: HistoryStore? = nil,
    willPublish: @escaping @Sendable () -> Void = {}, didPublish: @escaping @Sendable (Changes) -> Void = { _ in }
  ) {
    let recovered = store?.recovered
    history = EventHistory(epoch: epoch, bytes: historyBytes, store: store)
    (self.willPublish, self.didPublish) = (willPublish, didPublish)
    var documents = StateDocuments(.unknown(.starting), after: nil, epoch: history.epoch)
    documents.lastSequence = recovered?.lastSequence ?? 0
    guarded = Locked(State(latest: documents, recorder: recovered.map(EventRecorder.init)))
    store?.observe { [weak self] in self?.publish(through: $0) }
  }

  // MARK: - Publishing

  package func take(_ transitions: [Transition], _ snapshot: Snapshot) {
    let changes = guarded.withLock { state -> Changes in
      let before = state.latest
      let publication = encode(transitions, snapshot, &state)
      guard let store = history.store else { return publish(publication.entries, publication.changes) }
      // What is not an event follows the events before it.
      let isVisible = publication.records.isEmpty ? state.waiting.isEmpty : store.append(publication.records)
      if isVisible, state.waiting.isEmpty { return publish(publication.entries, publication.changes) }
      if state.published == nil { state.published = before }
      state.waiting.append(publication)
      return isVisible ? publishWaiting(through: publication.documents.lastSequence, &state) : Changes()
    }
    didPublish(changes)
  }

  /// Encodes transitions and the state after them, and makes that the latest state.
  private func encode(_ transitions: [Transition], _ snapshot: Snapshot, _ state: inout State) -> Publication {
    let old = state.latest
    var publication = Publication(documents: old)
    if snapshot != old.snapshot {
      state.latest = StateDocuments(snapshot, after: old, epoch: history.epoch)
      publication.changes.state = true
      publication.changes.status = state.latest.status.revision != old.status.revision
      publication.changes.interfaces = state.latest.interfaces.revision != old.interfaces.revision
      if let store = history.store, old.snapshot.machine.reason == .starting, snapshot.status != .unknown {
        store.storeInitialStates(snapshot.storedStates)
        if let first = initialEntry(transitions, from: old, to: snapshot) { publication.entries.append(first) }
      }
    }
    let uptime = state.recorder == nil ? 0 : StoreTime.now.uptime
    for transition in transitions {
      guard let event = Event(transition, snapshot, epoch: history.epoch) else { continue }
      state.latest.lastSequence = transition.sequence
      if let target = event.target {
        publication.changes.targets.insert(target)
        publication.changes.transitions.append(transition)
      }
      let entry = EventLog.Entry(event)
      publication.entries.append(entry)
      if let record = state.recorder?.record(event, transition, snapshot, frame: entry.bytes, uptime: uptime) {
        publication.records.append(record)
      }
    }
    publication.documents = state.latest
    return publication
  }

  /// An entry for streams that were opened before the first reading, when that is not a transition.
  ///
  /// The state is the one before the restart, so that there is no event, but these streams began with an unknown state.
  private func initialEntry(
    _ transitions: [Transition], from old: StateDocuments, to snapshot: Snapshot
  ) -> EventLog.Entry? {
    guard !transitions.contains(where: { $0.kind == .status }), let since = snapshot.since else { return nil }
    let initial = Transition(
      sequence: old.lastSequence, time: since, causes: [],
      change: .status(from: old.snapshot.machine, to: snapshot.machine, initial: true))
    guard let event = Event(initial, snapshot, epoch: history.epoch) else { return nil }
    return EventLog.Entry(
      id: old.lastSequence, kind: EventHistory.initialKind, bytes: SSEFrame.event(event.type.name, event.data))
  }

  /// Publishes what waits for the commit of an event, and of those before it; called by the store.
  private func publish(through last: UInt64) {
    let changes = guarded.withLock { publishWaiting(through: last, &$0) }
    didPublish(changes)
  }

  private func publishWaiting(through last: UInt64, _ state: inout State) -> Changes {
    var changes = Changes()
    var entries: [EventLog.Entry] = []
    while let first = state.waiting.first, first.documents.lastSequence <= last {
      state.waiting.removeFirst()
      state.published = state.waiting.isEmpty ? nil : first.documents
      entries += first.entries
      changes.add(first.changes)
    }
    return publish(entries, changes)
  }

  private func publish(_ entries: [EventLog.Entry], _ changes: Changes) -> Changes {
    if changes.state { willPublish() }
    history.log.append(contentsOf: entries)
    return changes
  }

  // MARK: - Reading

  package var documents: StateDocuments { guarded.withLock(\.visible) }

  /// The state after every transition so far, which may wait for its commit.
  package var latest: StateDocuments { guarded.withLock(\.latest) }

  /// The id of the last visible event.
  ///
  /// A client that reads it before the registered targets, and resumes after it, misses no change of them.
  package var lastEvent: EventID { EventID(epoch: history.epoch, sequence: documents.lastSequence) }

  /// Returns the snapshot's `/status` document and the log position after it, atomically.
  package func subscribe() -> (frame: [UInt8], cursor: EventLog.Cursor) {
    guarded.withLock { state in
      let documents = state.visible
      let id = EventID(epoch: history.epoch, sequence: documents.lastSequence)
      return (SSEFrame.event("snapshot", id: id, documents.status.bytes), history.log.end)
    }
  }
}
