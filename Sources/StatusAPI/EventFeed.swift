internal import Locks
internal import MicroHTTP
internal import NetworkReachability

/// Turns transitions into bytes, once: log entries for the streams and documents for the readers.
///
/// It is called under the engine's lock, so that the log has every event in order and no document is older than the event
/// that announced it.
final class EventFeed: TransitionSink {
  /// The kinds of entry in the log: one bit each of a stream's mask.
  enum Kind: UInt8, CaseIterable {
    case status, path, interface

    var mask: UInt64 { 1 << UInt64(rawValue) }

    init?(_ transition: Transition) {
      switch transition.change {
      case .status: self = .status
      case .path: self = .path
      case .interface: self = .interface
      case .host: return nil
      }
    }
  }

  /// The documents of one snapshot, encoded.
  struct Documents: Sendable {
    var snapshot: Snapshot
    /// `/status` as JSON and as a line of text; `/interfaces` as JSON.
    var status: SharedBody
    var statusText: SharedBody
    var interfaces: SharedBody
    var statusTag: String
    var interfacesTag: String
  }

  let epoch: String
  let log = EventLog()
  private let guarded: Locked<Documents>

  init(epoch: String = EventID.newEpoch()) {
    self.epoch = epoch
    guarded = Locked(Self.documents(.unknown(.starting), nil, epoch: epoch))
  }

  // MARK: - In

  func take(_ transitions: [Transition], _ snapshot: Snapshot) {
    guarded.withLock { documents in
      documents = Self.documents(snapshot, documents, epoch: epoch)
      for transition in transitions {
        guard let kind = Kind(transition), let name = EventBody.name(transition) else { continue }
        let id = EventID(epoch: epoch, sequence: transition.sequence)
        let frame = SSEFrame.event(name, id: id, EventBody.data(transition, snapshot, epoch: epoch))
        log.append(id: transition.sequence, kind: kind.rawValue, bytes: frame)
      }
    }
  }

  private static func documents(_ snapshot: Snapshot, _ old: Documents?, epoch: String) -> Documents {
    let tag = "W/\"\(EventID(epoch: epoch, sequence: snapshot.sequence))\""
    let interfaces = snapshot.interfaces
    // By what it says and not by events: the first reading after a start comes with interfaces and an event for none.
    let list = JSON.members(["interfaces": .array(interfaces.map { StatusBody.interface($0, among: interfaces) })])
    var documents = Documents(
      snapshot: snapshot,
      status: body(.json, tag, StatusBody.document(snapshot, epoch: epoch).bytes),
      statusText: body(.text, tag, Array(StatusBody.line(snapshot.machine.leading).utf8)),
      interfaces: body(.json, tag, list.bytes), statusTag: tag, interfacesTag: tag)
    if let old, old.interfaces.bytes == documents.interfaces.bytes {
      documents.interfaces = old.interfaces
      documents.interfacesTag = old.interfacesTag
    }
    return documents
  }

  private static func body(_ media: MediaType, _ tag: String, _ bytes: [UInt8]) -> SharedBody {
    SharedBody(headers: StateHeaders.headers(media, tag: tag), bytes: bytes + [0x0a])
  }

  // MARK: - Out

  /// The documents as they are.
  var documents: Documents { guarded.withLock(\.self) }

  /// The snapshot's `/status` document and the place in the log right after it, as of one moment.
  func subscribe() -> (frame: [UInt8], cursor: EventLog.Cursor) {
    guarded.withLock { documents in
      let id = EventID(epoch: epoch, sequence: documents.snapshot.sequence)
      let frame = SSEFrame.event("snapshot", id: id, StatusBody.document(documents.snapshot, epoch: epoch))
      return (frame, log.end)
    }
  }

  /// Where a client stands that has seen the event of this id; nil when its history is not ours or too old.
  func resume(after text: String) -> EventLog.Cursor? {
    guard let id = EventID(text), id.epoch == epoch, case .at(let cursor) = log.cursor(after: id.sequence) else {
      return nil
    }
    return cursor
  }

  /// The oldest event that can be replayed; nil when there is none.
  var oldest: EventID? { log.oldestID.map { EventID(epoch: epoch, sequence: $0) } }
}

/// The headers of every state document.
enum StateHeaders {
  static func headers(_ media: MediaType, tag: String? = nil) -> HTTPHeaders {
    var headers: HTTPHeaders = [
      "Content-Type": media.contentType, "Cache-Control": tag == nil ? "no-store" : "no-cache",
      "Vary": "Accept, Origin",
    ]
    headers["ETag"] = tag
    return SecurityHeaders.with(headers)
  }
}
