// What the log says about transitions.
extension Transition {
  /// What changes.
  package enum Subject: Hashable, Sendable {
    case machine, interface(String), target(String), gate(String)

    /// `machine`, `interface`, `target` or `gate`.
    package var kind: String {
      switch self {
      case .machine: "machine"
      case .interface: "interface"
      case .target: "target"
      case .gate: "gate"
      }
    }

    /// The name of the interface, or the id of the target or gate.
    package var name: String? {
      switch self {
      case .machine: nil
      case .interface(let name), .target(let name), .gate(let name): name
      }
    }
  }

  /// The line of a transition, without the values that describe it.
  package struct LogLine {
    /// What changes; nil for a host, of which clients may name many.
    package var subject: Subject?
    package var message: String
    /// The state after the change.
    package var state: String
    /// Whether the status of the target says that it flaps.
    package var isFlapping = false
  }

  /// What is removed may come back with the same name again and again: that flaps, too.
  package var logLine: LogLine {
    switch change {
    case .status(_, let to, let initial):
      LogLine(subject: .machine, message: initial ? "first verdict" : "status changed", state: to.status.name)
    case .path(_, let to): LogLine(subject: .machine, message: "path changed", state: to.status.name)
    case .interface(let state, let removed):
      LogLine(
        subject: .interface(state.interface.name), message: "interface changed",
        state: removed ? "removed" : "\(state.interface.operationalState)")
    case .host(_, let to): LogLine(message: "host changed", state: to.path.status.name)
    case .target(_, let report, let removed):
      LogLine(
        subject: .target(report.definition.id), message: "target changed",
        state: removed ? "removed" : report.status.state.rawValue, isFlapping: !removed && report.status.isFlapping)
    case .gate(_, let report, let removed):
      LogLine(
        subject: .gate(report.definition.id), message: removed ? "gate removed" : "gate changed",
        state: removed ? "removed" : report.status.state.rawValue)
    }
  }

  /// The values that describe the change of something other than a target.
  package var logValues: [(name: String, value: any CustomStringConvertible & Sendable)] {
    var values: [(name: String, value: any CustomStringConvertible & Sendable)] = []
    func add(_ name: String, _ value: (any CustomStringConvertible & Sendable)?) {
      if let value { values.append((name, value)) }
    }
    func add(_ path: NetworkPath) {
      add("status", path.status.name)
      add("reason", path.reason?.rawValue)
      add("interface", path.interface?.name)
      add("gateway", path.gateway?.description)
      add("source", path.source?.description)
    }
    switch change {
    case .status(let from, let to, _):
      add("from", from.status.name)
      add(to.leading)
    case .path(_, let to): add(to.leading)
    case .interface(let state, _):
      add("interface", state.interface.name)
      add("state", logLine.state)
      add("renamedTo", renamedTo)
      add("up", state.interface.flags.contains(.up))
      add("addresses", state.addresses.map(\.description).joined(separator: ","))
    case .host(_, let to):
      add("host", "\(to.target)")
      add(to.path)
    case .gate(let from, let report, _):
      add("gate", report.definition.id)
      add("from", from?.rawValue)
      add("state", logLine.state)
      add("reason", report.status.reason?.rawValue)
      if !report.status.missing.isEmpty { add("missing", report.status.missing.joined(separator: ",")) }
    case .target: break
    }
    return values
  }
}
