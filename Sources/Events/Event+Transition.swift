internal import History
package import JSONFormat
package import NetworkReachability

// What an event of each type contains: its data, a public format of which nothing may be changed or removed, and its codes.
extension Event {
  /// The event of a transition, with the state after it; nil for a transition that is not part of the history.
  package init?(_ transition: Transition, _ snapshot: Snapshot, epoch: String) {
    let id = EventID(epoch: epoch, sequence: transition.sequence)
    let cause = JSON.list(transition.causes.map(\.rawValue))
    func codes(
      _ type: EventType, _ old: StateCode, _ new: StateCode, _ reason: Reason?, _ flags: TransitionFlags = []
    ) -> TransitionRecord {
      TransitionRecord(
        type: type, old: old, new: new, reason: reason.flatMap(ReasonCode.init),
        causes: StoredCauses(transition.causes), flags: flags)
    }
    switch transition.change {
    case .status(let from, let to, let initial):
      self.init(
        id, transition.time,
        codes(.status, StateCode(from.status), StateCode(to.status), to.reason, initial ? .initial : []),
        [
          "from": Self.status(from), "to": Self.status(to), "cause": cause, "initial": .bool(initial),
          "status": StatusRepresentation.verdict(snapshot, epoch: epoch),
        ])
    case .path(let from, let to):
      self.init(
        id, transition.time, codes(.path, StateCode(from.status), StateCode(to.status), to.reason),
        [
          "cause": cause, "from": Self.families(from), "to": Self.families(to),
          "status": StatusRepresentation.verdict(snapshot, epoch: epoch),
        ])
    case .interface(let state, let removed):
      let new = removed ? StateCode.interfaceRemoved : StateCode(state.interface.usability)
      self.init(
        id, transition.time, codes(.interface, .none, new, nil, removed ? .removed : []),
        [
          "cause": cause, "interface": StatusRepresentation.interface(state, among: snapshot.interfaces),
          "removed": .bool(removed), "renamedTo": .text(transition.renamedTo),
        ])
    case .target(let from, let report, let removed):
      // A verdict from the kernel's tables has no duration.
      let duration = transition.causes.contains(.check) ? report.status.lastResult?.duration : nil
      let flapping: TransitionFlags = report.status.isFlapping ? .flapping : []
      let new = removed ? StateCode.targetRemoved : StateCode(report.status.state)
      self.init(
        id, transition.time, target: report.definition.id,
        codes(.target, StateCode(from), new, report.status.reason, removed ? flapping.union(.removed) : flapping),
        [
          "cause": cause, "from": .string(from.rawValue), "to": .string(report.status.state.rawValue),
          "reason": .text(report.status.reason?.rawValue),
          "durationSeconds": duration.map { .number($0 / .seconds(1)) } ?? .null,
          "target": .object(TargetSummary.members(report, url: report.definition.target.redacted)),
          "removed": .bool(removed), "origin": .string(report.origin.rawValue),
        ])
    case .gate(let from, let report, let removed):
      let new = removed ? StateCode.gateRemoved : StateCode(report.status.state)
      self.init(
        id, transition.time,
        codes(.gate, from.map { StateCode($0) } ?? .none, new, report.status.reason, removed ? .removed : []),
        Self.gate(from, report, removed, cause))
    case .host: return nil
    }
  }

  private static func gate(
    _ from: GateState?, _ report: GateReport, _ removed: Bool, _ cause: JSON
  ) -> KeyValuePairs<String, JSON> {
    [
      "cause": cause, "from": .text(from?.rawValue), "to": removed ? .null : .string(report.status.state.rawValue),
      "reason": .text(report.status.reason?.rawValue), "missing": .list(report.status.missing),
      "gate": .object(GateDocument.summary(report)), "removed": .bool(removed),
      "origin": .string(report.origin.rawValue),
    ]
  }

  private static func status(_ machine: MachinePath) -> JSON {
    .members([
      "status": .string(machine.status.name), "connectionType": .text(machine.status.connectionType?.rawValue),
    ])
  }

  private static func families(_ machine: MachinePath) -> JSON {
    .members(["ipv4": StatusRepresentation.family(machine.ipv4), "ipv6": StatusRepresentation.family(machine.ipv6)])
  }
}

/// The part of a registered target's JSON document that events have: the target and its state, without its last check.
package enum TargetSummary {
  /// Returns the members of the document; `url` is what the client may see of the target's URL.
  package static func members(_ report: TargetReport, url: String) -> [JSON.Member] {
    let (definition, status) = (report.definition, report.status)
    var members: [JSON.Member] = [
      .init(name: "id", value: .string(definition.id)),
      .init(name: "target", value: .string(url)),
      .init(name: "module", value: .string(definition.module.name)),
      .init(name: "labels", value: labels(definition)),
      .init(name: "state", value: .string(status.state.rawValue)),
      .init(name: "reason", value: .text(status.reason?.rawValue)),
      .init(name: "since", value: .string(status.since.description)),
      .init(name: "pending", value: .bool(status.isPending)),
      .init(name: "flapping", value: .bool(status.isFlapping)),
      .init(name: "consecutiveFailures", value: .integer(Int64(status.consecutiveFailures))),
    ]
    if let root = status.dependency { members.append(.init(name: "dependency", value: .string(root))) }
    if status.isWaitingForDependency { members.append(.init(name: "waitingForDependency", value: .bool(true))) }
    return members
  }

  /// The entries of `dependsOn` as they are written in a request.
  package static func dependsOn(_ entries: [TargetDependency]) -> JSON {
    .array(
      entries.map { entry in
        if entry.parents.count == 1, let parent = entry.parents.first { return .string(parent) }
        return .members(["anyOf": .list(entry.parents)])
      })
  }

  /// The labels of a target by name.
  static func labels(_ definition: TargetDefinition) -> JSON {
    .object(
      definition.labels.sorted { $0.key < $1.key }.map { JSON.Member(name: $0.key, value: .string($0.value)) })
  }
}
