// What a transition can be: the changes, the types of their events, and what the log says about them.
extension Transition {
  /// The change, with the old and the new state.
  ///
  /// The enumeration is indirect, because transitions are copied by the thousand and most of their bytes are here.
  public indirect enum Change: Hashable, Sendable {
    /// The machine's status or kind of connection; `initial` for the first verdict after the start.
    case status(from: MachinePath, to: MachinePath, initial: Bool)
    /// The same status over another interface, gateway or source address, or for another reason.
    case path(from: MachinePath, to: MachinePath)
    /// An interface was added, removed (`removed`), or changed its state or addresses.
    ///
    /// An interface is identified by its index and its name. One that is renamed is removed under its old name, with
    /// ``Transition/renamedTo``, and then added with the same index.
    case interface(InterfaceState, removed: Bool)
    /// A watched target's verdict; `from` is nil for the first one.
    case host(from: HostVerdict?, to: HostVerdict)
    /// A registered target's state or flapping. Also its registration, redefinition or removal (`removed`): then `from`
    /// is its current state.
    case target(from: TargetState, to: TargetReport, removed: Bool)
    /// A gate's state; `from` is nil for a gate that was added. Also its redefinition, or its removal (`removed`): then `from`
    /// is its current state.
    case gate(from: GateState?, to: GateReport, removed: Bool)
  }

  /// The kinds of change, for filters.
  public struct Kinds: OptionSet, Hashable, Sendable {
    /// One bit per kind.
    public let rawValue: UInt8
    /// Creates kinds from their bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// ``Change/status(from:to:initial:)``.
    public static let status = Kinds(rawValue: 1 << 0)
    /// ``Change/path(from:to:)``.
    public static let path = Kinds(rawValue: 1 << 1)
    /// ``Change/interface(_:removed:)``.
    public static let interface = Kinds(rawValue: 1 << 2)
    /// ``Change/host(from:to:)``.
    public static let host = Kinds(rawValue: 1 << 3)
    /// ``Change/target(from:to:removed:)``.
    public static let target = Kinds(rawValue: 1 << 4)
    /// ``Change/gate(from:to:removed:)``.
    public static let gate = Kinds(rawValue: 1 << 5)
    /// Every kind.
    public static let all: Kinds = [.status, .path, .interface, .host, .target, .gate]
  }

  /// The kind of this change.
  public var kind: Kinds {
    switch change {
    case .status: .status
    case .path: .path
    case .interface: .interface
    case .host: .host
    case .target: .target
    case .gate: .gate
    }
  }

  // MARK: - Log

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

/// A type of event: its name in documents and its number in the store.
///
/// The numbers are consecutive, and never change.
package enum EventType: UInt8, Hashable, Sendable, CaseIterable {
  /// The machine's status or kind of connection.
  case status = 0
  /// The machine's path with the same status.
  case path = 1
  /// An interface.
  case interface = 2
  /// A registered target.
  case target = 3
  /// A start or a stop of the service, which only the history has.
  case service = 4
  /// A gate.
  case gate = 5

  /// The types of which clients receive events.
  package static let published = allCases.filter { $0 != .service }

  // The description of an enumeration is derived from metadata, which takes microseconds.
  private static let names = allCases.map { "\($0)" }

  /// The type with a name; nil if there is none.
  package init?(name: String) {
    guard let index = Self.names.firstIndex(of: name) else { return nil }
    self = Self.allCases[index]
  }

  /// The name in documents.
  package var name: String { Self.names[Int(rawValue)] }
}
