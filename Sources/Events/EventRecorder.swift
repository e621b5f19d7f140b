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
    func set(_ old: StateCode, _ new: StateCode, _ reason: Reason?, _ flags: TransitionFlags = []) {
      record.transition = TransitionRecord(
        type: event.type, old: old, new: new, reason: reason.flatMap(ReasonCode.init),
        causes: StoredCauses(transition.causes), flags: flags)
    }
    switch transition.change {
    case .status(let from, let to, let initial):
      set(StateCode(from.status), StateCode(to.status), to.reason, initial ? .initial : [])
      record.state = MachineStateRecord(machine: to, since: snapshot.since).bytes
    case .path(let from, let to):
      set(StateCode(from.status), StateCode(to.status), to.reason)
      record.state = MachineStateRecord(machine: to, since: snapshot.since).bytes
    case .interface(let state, let removed):
      let new = removed ? StateCode.interfaceRemoved : StateCode(state.interface.usability)
      set(interfaces[state.interface.name] ?? .none, new, nil, removed ? .removed : [])
      record.state = removed ? [] : state.storedBytes
      interfaces[state.interface.name] = removed ? nil : new
    case .target(let from, let report, let removed):
      let flags: TransitionFlags = report.status.isFlapping ? .flapping : []
      let new = removed ? StateCode.targetRemoved : StateCode(report.status.state)
      set(StateCode(from), new, report.status.reason, removed ? flags.union(.removed) : flags)
      record.target = change(of: report, removed)
    case .host: break
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
