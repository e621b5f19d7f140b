internal import JSONFormat
internal import EventStreams
internal import Locks
internal import EmbeddedHTTPServer
internal import NetworkReachability

/// Encodes transitions once: as log entries for streams and as documents for requests.
///
/// It is called under the engine's lock, so that the log has every event in order and no document is older than the
/// event that announced it.
final class EventPublisher: TransitionSink {
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
    var status: SharedBody
    var statusText: SharedBody
    var interfaces: SharedBody
    /// How often the content of each document has changed; the entity tags contain these numbers.
    var revisions = (status: UInt64(0), interfaces: UInt64(0))
  }

  let epoch: String
  let log: EventLog
  /// The heartbeats of idle streams; a filtered stream's heartbeat has its id, which would become outdated otherwise.
  let heartbeat = HTTPStream.Heartbeat(bytes: SSEFrame.comment)
  let positionHeartbeat: HTTPStream.Heartbeat
  /// Requests that wait for a change of `/status`, and of `/interfaces`.
  let statusWaiters = LongPollRegistry<Never>()
  let interfaceWaiters = LongPollRegistry<Never>()
  /// Requests that wait for a change of one registered target, by its id, or of any.
  let targetWaiters = LongPollRegistry<Transition>()
  /// Advances with the documents.
  let generation = CacheGeneration()
  private let guarded: Locked<Documents>

  init(epoch: String = EventID.newEpoch(), historyBytes: Int = StatusService.Configuration.defaultHistoryBytes) {
    self.epoch = epoch
    log = EventLog(byteCapacity: historyBytes, entryCapacity: max(1, historyBytes / Self.minimumEventBytes))
    positionHeartbeat = HTTPStream.Heartbeat(bytes: SSEFrame.comment, position: SSEFrame.position(epoch: epoch))
    guarded = Locked(Self.documents(.unknown(.starting), nil, epoch: epoch))
  }

  // MARK: - Publishing

  func take(_ transitions: [Transition], _ snapshot: Snapshot) {
    var targets: Set<String> = []
    var changes: [Transition] = []
    let changed = guarded.withLock { documents -> (status: Bool, interfaces: Bool) in
      let old = documents.revisions
      if snapshot != documents.snapshot {
        documents = Self.documents(snapshot, documents, epoch: epoch)
        // Before the log has the event: a client that has received it gets the new document.
        generation.advance()
      }
      var entries: [EventLog.Entry] = []
      for transition in transitions {
        guard let kind = Kind(transition), let name = EventRepresentation.name(transition) else { continue }
        documents.lastSequence = transition.sequence
        let target = transition.targetID
        if let target {
          targets.insert(target)
          changes.append(transition)
        }
        let id = EventID(epoch: epoch, sequence: transition.sequence)
        let frame = SSEFrame.event(name, id: id, EventRepresentation.data(transition, snapshot, epoch: epoch))
        let topic = target.map(Self.topic) ?? 0
        entries.append(EventLog.Entry(id: transition.sequence, kind: kind.rawValue, topic: topic, bytes: frame))
      }
      log.append(contentsOf: entries)
      return (
        status: documents.revisions.status != old.status, interfaces: documents.revisions.interfaces != old.interfaces
      )
    }
    // In a task, because the engine's lock is held here.
    if changed.status { statusWaiters.notifyLater() }
    if changed.interfaces { interfaceWaiters.notifyLater() }
    if !targets.isEmpty { targetWaiters.notifyLater(topics: targets.union([""]), changes) }
  }

  /// Returns the topic of a registered target in the log, hashed with a random key, against collisions by clients.
  ///
  /// A stream can follow an id before it is registered, and the log keeps the events of removed targets.
  static func topic(_ target: String) -> UInt64 {
    var hasher = Hasher()
    hasher.combine(target)
    return max(1, UInt64(UInt(bitPattern: hasher.finalize())))
  }

  private static func documents(_ snapshot: Snapshot, _ old: Documents?, epoch: String) -> Documents {
    let interfaces = snapshot.interfaces
    let status = StatusRepresentation.document(snapshot, epoch: epoch).bytes
    let list = JSON.members([
      "interfaces": .array(interfaces.map { StatusRepresentation.interface($0, among: interfaces) })
    ])
    // By content and not by events: the first reading after a start has interfaces, but no event for them.
    var revisions = old?.revisions ?? (status: 0, interfaces: 0)
    if let old, old.status.bytes.dropLast() != status[...] { revisions.status += 1 }
    if let old, old.interfaces.bytes.dropLast() != list.bytes[...] { revisions.interfaces += 1 }
    let tags = [revisions.status, revisions.interfaces].map { "W/\"\(EventID(epoch: epoch, sequence: $0))\"" }
    return Documents(
      snapshot: snapshot, lastSequence: max(snapshot.sequence, old?.lastSequence ?? 0),
      status: body(.json, tags[0], status),
      statusText: body(.text, tags[0], Array(StatusRepresentation.line(snapshot.machine.leading).utf8)),
      interfaces: body(.json, tags[1], list.bytes), revisions: revisions)
  }

  private static func body(_ media: MediaType, _ tag: String, _ bytes: [UInt8]) -> SharedBody {
    SharedBody(headers: RepresentationHeaders.headers(media, tag: tag), bytes: bytes + [0x0a])
  }

  // MARK: - Reading

  /// The current documents.
  var documents: Documents { guarded.withLock(\.self) }

  /// The id of the last event.
  ///
  /// A client that reads it before the registered targets, and resumes after it, misses no change of them.
  var lastEvent: EventID { guarded.withLock { EventID(epoch: epoch, sequence: $0.lastSequence) } }

  /// Returns the snapshot's `/status` document and the log position after it, atomically.
  func subscribe() -> (frame: [UInt8], cursor: EventLog.Cursor) {
    guarded.withLock { documents in
      let id = EventID(epoch: epoch, sequence: documents.lastSequence)
      // The document is already encoded; only its line end must be removed.
      return (SSEFrame.event("snapshot", id: id, Array(documents.status.bytes.dropLast())), log.end)
    }
  }

  /// Returns the position after the event with this id; nil when the id is of another history or too old.
  func resume(after text: String) -> EventLog.Cursor? {
    guard let sequence = sequence(of: text), case .at(let cursor) = log.cursor(after: sequence) else { return nil }
    return cursor
  }

  /// Returns the number in an id of this history; nil for any other text.
  func sequence(of text: String) -> UInt64? {
    guard let id = EventID(text), id.epoch == epoch else { return nil }
    return id.sequence
  }

  /// The id of the oldest event that can be replayed; nil when there is none.
  var oldest: EventID? { log.oldestID.map { EventID(epoch: epoch, sequence: $0) } }
}

extension Transition {
  /// The id of the registered target that changed; nil for other transitions.
  fileprivate var targetID: String? {
    guard case .target(_, let report, _) = change else { return nil }
    return report.definition.id
  }
}

/// The headers of every state document.
enum RepresentationHeaders {
  static func headers(_ media: MediaType, tag: String? = nil) -> HTTPHeaders {
    var headers: HTTPHeaders = [
      "Content-Type": media.contentType, "Cache-Control": tag == nil ? "no-store" : "no-cache",
      "Vary": "Accept, Origin",
    ]
    headers["ETag"] = tag
    return SecurityHeaders.merged(into: headers)
  }

  /// Returns the headers of registered targets, whose URLs depend on the client's token.
  static func ofTargets(_ media: MediaType) -> HTTPHeaders {
    var headers = headers(media)
    headers["Vary"] = "Accept, Authorization, Origin"
    return headers
  }
}
