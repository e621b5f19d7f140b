internal import EventStreams
internal import History
internal import JSONFormat
internal import NetworkReachability

/// Converts transitions to the records of a store: codes for the history, and the states to restore after a restart.
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

  /// The records of transitions, whose frames are those of the entries with their numbers.
  mutating func records(
    _ transitions: [Transition], _ snapshot: Snapshot, _ entries: [EventLog.Entry]
  ) -> [EventRecord] {
    let uptime = StoreTime.now.uptime
    var frames = entries.filter { $0.kind != EventPublisher.initialKind }.makeIterator()
    return transitions.compactMap { transition in
      guard let kind = EventPublisher.Kind(transition), let frame = frames.next() else { return nil }
      var record = EventRecord(
        sequence: transition.sequence, time: transition.time.microseconds, uptime: uptime, kind: kind.rawValue,
        subject: HistorySubject.machine, body: frame.bytes)
      fill(&record, transition, snapshot)
      return record
    }
  }

  private mutating func fill(_ record: inout EventRecord, _ transition: Transition, _ snapshot: Snapshot) {
    let causes = StoredCauses(transition.causes)
    switch transition.change {
    case .status(let from, let to, let initial):
      record.transition = TransitionRecord(
        type: .status, old: StateCode(from.status), new: StateCode(to.status),
        reason: to.reason.flatMap(ReasonCode.init), causes: causes, flags: initial ? .initial : [])
      record.state = MachineStateRecord(machine: to, since: snapshot.since).bytes
    case .path(let from, let to):
      record.transition = TransitionRecord(
        type: .path, old: StateCode(from.status), new: StateCode(to.status),
        reason: to.reason.flatMap(ReasonCode.init), causes: causes)
      record.state = MachineStateRecord(machine: to, since: snapshot.since).bytes
    case .interface(let state, let removed):
      let name = state.interface.name
      let new = removed ? StateCode.interfaceRemoved : StateCode(state.interface.usability)
      record.subject = HistorySubject.interface(name)
      record.transition = TransitionRecord(
        type: .interface, old: interfaces[name] ?? .none, new: new, causes: causes, flags: removed ? .removed : [])
      record.state = removed ? [] : state.storedBytes
      interfaces[name] = removed ? nil : new
    case .target(let from, let report, let removed):
      record.subject = HistorySubject.target(report.definition.id)
      record.transition = Self.transition(from, report, removed, causes)
      record.target = target(report, removed)
    case .host: break
    }
  }

  private static func transition(
    _ from: TargetState, _ report: TargetReport, _ isRemoved: Bool, _ causes: StoredCauses
  ) -> TransitionRecord {
    var flags: TransitionFlags = isRemoved ? .removed : []
    if report.status.isFlapping { flags.insert(.flapping) }
    return TransitionRecord(
      type: .target, old: StateCode(from), new: isRemoved ? .targetRemoved : StateCode(report.status.state),
      reason: report.status.reason.flatMap(ReasonCode.init), causes: causes, flags: flags)
  }

  private mutating func target(_ report: TargetReport, _ isRemoved: Bool) -> StoredTargetChange {
    let id = report.definition.id
    guard !isRemoved else {
      revisions[id] = nil
      return .remove
    }
    guard revisions[id] != report.revision else { return .state(TargetStorage.state(report)) }
    revisions[id] = report.revision
    return .put(TargetStorage.record(report))
  }
}
