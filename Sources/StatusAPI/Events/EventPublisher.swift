internal import DequeModule
package import History
internal import JSONFormat
package import EventStreams
internal import Locks
internal import HTTPRouting
internal import NetworkReachability

/// Encodes transitions once: as log entries for streams and as documents for requests.
///
/// It is called under the engine's lock, so that the log has every event in order and no document is older than the
/// event that announced it. With a store, events, documents and notifications wait until the events are committed.
package final class EventPublisher: TransitionSink {
  /// The kinds of log entry: one bit each of a stream's mask.
  enum Kind: UInt8, CaseIterable {
    case status, path, interface, target

    var mask: UInt64 { 1 << UInt64(rawValue) }

    init?(_ transition: Transition) {
      switch transition.change {
      case .status: self = .status
      case .path: self = .path
      case .interface: self = .interface
      case .target: self = .target
      case .host: return nil
      }
    }
  }

  /// The size of the smallest event in bytes, which limits the number of entries.
  private static let minimumEventBytes = 256

  /// The encoded documents of one snapshot.
  struct Documents: Sendable {
    var snapshot: Snapshot
    /// The number of the last event in the log, which may concern a registered target and none of the documents.
    var lastSequence: UInt64
    /// `/status` as JSON and as a line of text; `/interfaces` as JSON.
    var status: SharedResponseBody
    var statusText: SharedResponseBody
    var interfaces: SharedResponseBody
    /// How often the content of each document has changed; the entity tags contain these numbers.
    var revisions = (status: UInt64(0), interfaces: UInt64(0))
  }

  package let epoch: String
  package let log: EventLog
  /// The random part of the tags of documents, which no other process has used.
  let tagEpoch: String
  /// The heartbeats of idle streams; a filtered stream's heartbeat has its id, which would become outdated otherwise.
  let heartbeat = EventStreamResponse.Heartbeat(bytes: SSEFrame.comment)
  let positionHeartbeat: EventStreamResponse.Heartbeat
  /// Requests that wait for a change of `/status`, and of `/interfaces`.
  let statusWaiters = LongPollRegistry<Never>()
  let interfaceWaiters = LongPollRegistry<Never>()
  /// Requests that wait for a change of one registered target, by its id, or of any.
  let targetWaiters = LongPollRegistry<Transition>()
  /// Advances with the documents.
  let generation = ResponseCacheGeneration()
  /// Commits events before they are published; nil without a data directory.
  package let store: HistoryStore?
  /// Limits what is read from the store for streams at a time.
  let replays = EventReplayLimiter()
  let guarded: Locked<State>

  /// The number of the last transition, which may wait for its commit.
  package var lastSequence: UInt64 { guarded.withLock(\.latest.lastSequence) }

  /// The documents, and what waits for its commit.
  struct State {
    /// The documents after every transition so far.
    var latest: Documents
    /// The documents that requests get while events wait for their commit; nil when none waits.
    var published: Documents?
    var waiting: Deque<Publication> = []
    var recorder: EventRecorder?

    var visible: Documents { published ?? latest }
  }

  /// What becomes visible together: the events of one reading, or one change.
  struct Publication {
    /// The number of the last event.
    var last: UInt64
    var entries: [EventLog.Entry]
    var documents: Documents
    var changes: Changes
  }

  /// The requests to notify, and whether cached responses are outdated.
  struct Changes {
    var documents = false
    var status = false
    var interfaces = false
    var targets: Set<String> = []
    var transitions: [Transition] = []

    mutating func add(_ other: Changes) {
      documents = documents || other.documents
      status = status || other.status
      interfaces = interfaces || other.interfaces
      targets.formUnion(other.targets)
      transitions += other.transitions
    }
  }

  /// Makes a publisher with an empty log, or with the newest events of a store.
  init(
    epoch: String = EventID.newEpoch(), historyBytes: Int = StatusService.Configuration.defaultHistoryBytes,
    store: HistoryStore? = nil
  ) {
    let recovered = store?.recovered
    let last = recovered?.lastSequence ?? 0
    self.store = store
    self.epoch = recovered?.epoch ?? epoch
    // A tag of an earlier process describes another document.
    tagEpoch = store == nil ? epoch : EventID.newEpoch()
    log = EventLog(
      byteCapacity: historyBytes, entryCapacity: max(1, historyBytes / Self.minimumEventBytes),
      baseID: recovered?.events.first.map { $0.sequence - 1 } ?? last)
    log.append(contentsOf: (recovered?.events ?? []).map(Self.entry))
    positionHeartbeat = EventStreamResponse.Heartbeat(
      bytes: SSEFrame.comment, position: SSEFrame.position(epoch: self.epoch))
    var documents = Self.documents(.unknown(.starting), nil, epoch: self.epoch, tagEpoch)
    documents.lastSequence = last
    guarded = Locked(State(latest: documents, recorder: recovered.map(EventRecorder.init)))
    store?.observe { [weak self] in self?.publish(through: $0) }
  }

  // MARK: - Publishing

  func take(_ transitions: [Transition], _ snapshot: Snapshot) {
    let changes = guarded.withLock { state -> Changes in
      let before = state.latest
      let publication = encode(transitions, snapshot, &state)
      guard let store else { return publish(publication) }
      let records = state.recorder?.records(transitions, snapshot, publication.entries) ?? []
      // What is not an event follows the events before it.
      let isVisible = records.isEmpty ? state.waiting.isEmpty : store.append(records)
      if isVisible, state.waiting.isEmpty { return publish(publication) }
      if state.published == nil { state.published = before }
      state.waiting.append(publication)
      return isVisible ? publishWaiting(through: publication.last, &state) : Changes()
    }
    notify(changes)
  }

  /// Publishes what waits for the commit of an event, and of those before it; called by the store.
  private func publish(through last: UInt64) {
    let changes = guarded.withLock { publishWaiting(through: last, &$0) }
    notify(changes)
  }

  private func publishWaiting(through last: UInt64, _ state: inout State) -> Changes {
    var all = Changes()
    var entries: [EventLog.Entry] = []
    while let first = state.waiting.first, first.last <= last {
      state.waiting.removeFirst()
      state.published = state.waiting.isEmpty ? nil : first.documents
      entries += first.entries
      all.add(first.changes)
    }
    publish(entries, all)
    return all
  }

  private func publish(_ publication: Publication) -> Changes {
    publish(publication.entries, publication.changes)
    return publication.changes
  }

  private func publish(_ entries: [EventLog.Entry], _ changes: Changes) {
    // Before the log has the event: a client that has received it gets the new document.
    if changes.documents { generation.advance() }
    log.append(contentsOf: entries)
  }

  /// Notifies in tasks, because the engine's lock may be held.
  private func notify(_ changes: Changes) {
    if changes.status { statusWaiters.notifyLater() }
    if changes.interfaces { interfaceWaiters.notifyLater() }
    if !changes.targets.isEmpty { targetWaiters.notifyLater(topics: changes.targets.union([""]), changes.transitions) }
  }
}

extension Transition {
  /// The id of the registered target that changed; nil for other transitions.
  var targetID: String? {
    guard case .target(_, let report, _) = change else { return nil }
    return report.definition.id
  }
}
