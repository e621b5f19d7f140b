internal import EventStreams
internal import HTTPRouting
internal import JSONFormat
internal import NetworkReachability

// The encoding of transitions and documents, under the lock.
extension EventPublisher {
  /// Encodes transitions and the state after them, and makes that the latest state.
  func encode(_ transitions: [Transition], _ snapshot: Snapshot, _ state: inout State) -> Publication {
    let old = state.latest
    var changes = Changes()
    var entries: [EventLog.Entry] = []
    if snapshot != old.snapshot {
      state.latest = Self.documents(snapshot, old, epoch: epoch, tagEpoch)
      changes.documents = true
      if let store, old.snapshot.machine.reason == .starting, snapshot.status != .unknown {
        snapshot.storeInitialStates(in: store)
        if let first = initialEntry(transitions, from: old, to: snapshot) { entries.append(first) }
      }
    }
    for transition in transitions {
      guard let kind = Kind(transition), let name = EventRepresentation.name(transition) else { continue }
      state.latest.lastSequence = transition.sequence
      let target = transition.targetID
      if let target {
        changes.targets.insert(target)
        changes.transitions.append(transition)
      }
      let id = EventID(epoch: epoch, sequence: transition.sequence)
      let frame = SSEFrame.event(name, id: id, EventRepresentation.data(transition, snapshot, epoch: epoch))
      let labels = EventLog.Labels(topic: target.map(Self.label) ?? 0)
      entries.append(EventLog.Entry(id: transition.sequence, kind: kind.rawValue, labels: labels, bytes: frame))
    }
    changes.status = state.latest.revisions.status != old.revisions.status
    changes.interfaces = state.latest.revisions.interfaces != old.revisions.interfaces
    return Publication(
      last: state.latest.lastSequence, entries: entries, documents: state.latest, changes: changes)
  }

  /// The bit of the entries that streams receive and that are not events of the history.
  static let initialKind: UInt8 = 63

  /// An entry for streams that were opened before the first reading, when that is not a transition.
  ///
  /// The state is the one before the restart, so that there is no event, but these streams began with an unknown state.
  private func initialEntry(
    _ transitions: [Transition], from old: Documents, to snapshot: Snapshot
  ) -> EventLog.Entry? {
    guard !transitions.contains(where: { Kind($0) == .status }), let since = snapshot.since else { return nil }
    let initial = Transition(
      sequence: old.lastSequence, time: since, causes: [],
      change: .status(from: old.snapshot.machine, to: snapshot.machine, initial: true))
    let frame = SSEFrame.event("status", EventRepresentation.data(initial, snapshot, epoch: epoch))
    return EventLog.Entry(id: old.lastSequence, kind: Self.initialKind, bytes: frame)
  }

  /// Returns a name, such as a target's id, as a label in the log: hashed with a random key, against collisions by
  /// clients.
  ///
  /// A stream can follow an id before it is registered, and the log keeps the events of removed targets.
  package static func label(_ name: String) -> UInt64 {
    var hasher = Hasher()
    hasher.combine(name)
    return max(1, UInt64(UInt(bitPattern: hasher.finalize())))
  }

  static func documents(
    _ snapshot: Snapshot, _ old: Documents?, epoch: String, _ tagEpoch: String
  ) -> Documents {
    let interfaces = snapshot.interfaces
    let status = StatusRepresentation.document(snapshot, epoch: epoch).bytes
    let listed = snapshot.interfacesByPreference.map { StatusRepresentation.interface($0, among: interfaces) }
    let list = JSON.members(["interfaces": .array(listed)])
    // By content and not by events: the first reading after a start has interfaces, but no event for them.
    var revisions = old?.revisions ?? (status: 0, interfaces: 0)
    if let old, old.status.bytes.dropLast() != status[...] { revisions.status += 1 }
    if let old, old.interfaces.bytes.dropLast() != list.bytes[...] { revisions.interfaces += 1 }
    let tags = [revisions.status, revisions.interfaces].map { "W/\"\(EventID(epoch: tagEpoch, sequence: $0))\"" }
    return Documents(
      snapshot: snapshot, lastSequence: max(snapshot.sequence, old?.lastSequence ?? 0),
      status: body(.json, tags[0], status),
      statusText: body(.text, tags[0], Array(StatusRepresentation.line(snapshot.machine.leading).utf8)),
      interfaces: body(.json, tags[1], list.bytes), revisions: revisions)
  }

  private static func body(_ media: MediaType, _ tag: String, _ bytes: [UInt8]) -> SharedResponseBody {
    SharedResponseBody(headers: RepresentationHeaders.headers(media, tag: tag), bytes: bytes + [0x0a])
  }
}
