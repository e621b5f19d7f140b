internal import HTTPRouting
internal import EventStreams
package import Events
package import History
internal import Locks
internal import NetworkReachability

/// The events of the service as routes use them: with the documents as responses, and the requests that wait for a change.
package final class ServiceEvents: Sendable {
  /// The documents of the visible state as responses.
  struct Documents: Sendable {
    /// `/status` as JSON and as a line of text; `/interfaces` as JSON.
    let status: SharedResponseBody
    let statusText: SharedResponseBody
    let interfaces: SharedResponseBody
    /// `/status` without tags, for probes.
    let untaggedStatus: SharedResponseBody
    let untaggedStatusText: SharedResponseBody
    fileprivate let state: StateDocuments

    var snapshot: Snapshot { state.snapshot }
  }

  package let publisher: EventPublisher
  /// The visible events.
  package var history: EventHistory { publisher.history }
  package var epoch: String { history.epoch }
  /// Commits events before they are published; nil without a data directory.
  package var store: HistoryStore? { history.store }
  /// The id of the last visible event.
  var lastEvent: EventID { publisher.lastEvent }
  /// The visible state of the machine.
  var snapshot: Snapshot { publisher.documents.snapshot }
  /// The heartbeats of idle streams; a filtered stream's heartbeat has its id, which would become outdated otherwise.
  let heartbeat = EventStreamResponse.Heartbeat(bytes: SSEFrame.comment)
  let positionHeartbeat: EventStreamResponse.Heartbeat
  /// Requests that wait for a change of `/status`, and of `/interfaces`.
  let statusWaiters = LongPollRegistry<Never>()
  let interfaceWaiters = LongPollRegistry<Never>()
  /// Requests that wait for a change of one registered target, by its id, or of any.
  let targetWaiters = LongPollRegistry<Transition>()
  /// Requests that wait for a change of one gate, by its id, or of any.
  let gateWaiters = LongPollRegistry<Never>()
  /// Advances with the documents.
  let generation = ResponseCacheGeneration()
  /// The random part of the tags of documents, which no other process has used.
  let tagEpoch: String
  private let made = Locked<Documents?>(nil)

  /// Makes the events of a service with an empty log, or with the newest events of a store.
  init(historyBytes: Int, store: HistoryStore?) {
    publisher = EventPublisher(historyBytes: historyBytes, store: store) { [generation] in
      generation.advance()
    } didPublish: { [statusWaiters, interfaceWaiters, targetWaiters] changes in
      // In tasks, because the engine's lock may be held.
      if changes.status { statusWaiters.notifyLater() }
      if changes.interfaces { interfaceWaiters.notifyLater() }
      if !changes.targets.isEmpty {
        targetWaiters.notifyLater(topics: changes.targets.union([""]), changes.transitions)
      }
    }
    // A tag of an earlier process describes another document.
    tagEpoch = store == nil ? publisher.history.epoch : EventID.newEpoch()
    positionHeartbeat = EventStreamResponse.Heartbeat(
      bytes: SSEFrame.comment, position: SSEFrame.position(epoch: publisher.history.epoch))
  }

  /// The current documents, which are made for the first request after a change.
  var documents: Documents {
    let state = publisher.documents
    return made.withLock { made in
      if let made, made.state.status.revision == state.status.revision,
        made.state.interfaces.revision == state.interfaces.revision
      {
        return made
      }
      let line = Array(StatusRepresentation.line(state.snapshot.machine.leading).utf8)
      let documents = Documents(
        status: body(.json, state.status), statusText: body(.text, state.status, line),
        interfaces: body(.json, state.interfaces),
        untaggedStatus: SharedResponseBody(
          headers: RepresentationHeaders.headers(.json), bytes: state.status.bytes + [0x0a]),
        untaggedStatusText: SharedResponseBody(headers: RepresentationHeaders.headers(.text), bytes: line + [0x0a]),
        state: state)
      made = documents
      return documents
    }
  }

  /// Notifies the requests that wait for a change of gates.
  func gatesChanged(_ ids: Set<String>) { gateWaiters.notifyLater(topics: ids.union([""])) }

  private func body(
    _ media: MediaType, _ document: StateDocuments.Document, _ bytes: [UInt8]? = nil
  ) -> SharedResponseBody {
    let tag = "W/\"\(EventID(epoch: tagEpoch, sequence: document.revision))\""
    return SharedResponseBody(
      headers: RepresentationHeaders.headers(media, tag: tag), bytes: (bytes ?? document.bytes) + [0x0a])
  }

  /// Whether the present state is not known yet.
  var awaitsFirstReading: Bool { snapshot.machine.reason == .starting }

  /// The longest wait for the first reading; it takes a few milliseconds unless the kernel is not available.
  private static let firstReadingLimit = Duration.seconds(2)

  /// Makes a response after the first reading.
  ///
  /// A snapshot before it would report an unknown state, as if a restart had changed it, and no interfaces, for which the
  /// first reading has no events.
  func afterFirstReading(_ response: @escaping @Sendable () -> HTTPResponse) -> HTTPReply {
    .wait(
      HTTPWait(limit: Self.firstReadingLimit, expired: response) { [self] promise in
        let waiter = statusWaiters.add { [self] _ in
          guard !awaitsFirstReading else { return false }
          promise.fulfil(response())
          return true
        }
        return { [self] in statusWaiters.remove(waiter) }
      })
  }
}
