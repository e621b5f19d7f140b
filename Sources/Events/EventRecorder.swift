internal import History
internal import NetworkReachability

/// Converts events to the records of a store: codes for the history, and the states to restore after a restart.
struct EventRecorder {
  /// The last state of each interface, because a transition of an interface has no state before it.
  private var interfaces: [String: StateCode] = [:]
  /// The revision of each target's stored definition.
  private var revisions: [String: UInt64] = [:]

  init(_ recovered: RecoveredStoreState) {
    for state in recovered.interfaces {
      interfaces[state.interface.name] = StateCode(state.interface.usability)
    }
    for target in recovered.targets { revisions[target.id] = target.revision }
  }

  /// The record of an event and of the transition that it reports; its frame is stored.
  mutating func record(
    _ event: Event, _ transition: Transition, _ snapshot: Snapshot, frame: [UInt8], uptime: Int64
  ) -> EventRecord {
    var record = EventRecord(
      sequence: event.id.sequence, time: event.time.microseconds, uptime: uptime, kind: event.type.rawValue,
      subject: event.subject, body: frame)
    record.transition = event.codes
    switch transition.change {
    case .status(_, let to, _), .path(_, let to):
      record.state = MachineStateRecord(machine: to, since: snapshot.since).bytes
    case .interface(let state, let removed):
      let name = state.interface.name
      record.transition?.old = interfaces[name] ?? .none
      record.state = removed ? [] : state.storedBytes
      interfaces[name] = removed ? nil : event.codes?.new
    case .target(_, let report, let removed): record.target = change(of: report, removed)
    case .gate(_, let report, let removed): record.state = removed ? [] : GateDocument.stored(report)
    // There is no state to restore.
    default: break
    }
    return record
  }

  /// The change of a target's row.
  private mutating func change(of report: TargetReport, _ isRemoved: Bool) -> StoredTargetChange {
    let id = report.definition.id
    let isStored = revisions[id] == report.revision
    revisions[id] = isRemoved ? nil : report.revision
    return isRemoved ? .remove : isStored ? .state(report.storedState) : .put(TargetRecord(report))
  }
}
