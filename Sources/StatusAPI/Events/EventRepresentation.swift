package import JSONFormat
package import NetworkReachability

/// The data of the events of `/events`.
///
/// This is a public format: members may be added, not changed or removed.
package enum EventRepresentation {
  /// Returns the event's name on the stream; nil for transitions that the stream does not carry.
  static func name(_ transition: Transition) -> String? {
    switch transition.change {
    case .status: "status"
    case .path: "path"
    case .interface: "interface"
    case .target: "target"
    case .host: nil
    }
  }

  /// Returns the data of an event; `snapshot` is the state after it.
  package static func data(_ transition: Transition, _ snapshot: Snapshot, epoch: String) -> JSON {
    var members = head(transition, epoch: epoch)
    func add(_ name: String, _ value: JSON) { members.append(.init(name: name, value: value)) }
    switch transition.change {
    case .status(let from, let to, let initial):
      add("from", status(from))
      add("to", status(to))
      add("cause", .list(transition.causes.map(\.rawValue)))
      add("initial", .bool(initial))
      add("status", StatusRepresentation.verdict(snapshot, epoch: epoch))
    case .path(let from, let to):
      add("cause", .list(transition.causes.map(\.rawValue)))
      add("from", families(from))
      add("to", families(to))
      add("status", StatusRepresentation.verdict(snapshot, epoch: epoch))
    case .interface(let state, let removed):
      add("cause", .list(transition.causes.map(\.rawValue)))
      add("interface", StatusRepresentation.interface(state, among: snapshot.interfaces))
      add("removed", .bool(removed))
      add("renamedTo", .text(transition.renamedTo))
    case .target(let from, let report, let removed):
      add("cause", .list(transition.causes.map(\.rawValue)))
      add("from", .string(from.rawValue))
      add("to", .string(report.status.state.rawValue))
      add("reason", .text(report.status.reason?.rawValue))
      // A verdict from the kernel's tables has no duration.
      let isFound = transition.causes.contains(.check)
      add("durationSeconds", isFound ? TargetRepresentation.seconds(report.status.lastResult?.duration) : .null)
      add("target", .object(TargetRepresentation.summary(report, .redacted)))
      add("removed", .bool(removed))
      add("origin", .string(report.origin.rawValue))
    case .host: break
    }
    return .object(members)
  }

  /// Returns the data of a `host` event, which has no id, because it is not part of the machine's history.
  package static func host(_ verdict: HostVerdict, _ transition: Transition, initial: Bool) -> JSON {
    .members([
      "type": "host",
      "time": .string(transition.time.description),
      "cause": .list(transition.causes.map(\.rawValue)),
      "initial": .bool(initial),
      "host": HostRepresentation.document(verdict, host: verdict.target.scopedHost, evaluatedAt: transition.time),
    ])
  }

  private static func head(_ transition: Transition, epoch: String) -> [JSON.Member] {
    [
      .init(name: "id", value: .string(EventID(epoch: epoch, sequence: transition.sequence).description)),
      .init(name: "type", value: .text(name(transition))),
      .init(name: "time", value: .string(transition.time.description)),
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
