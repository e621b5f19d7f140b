public import ReachabilityModel

/// A state of any subject as a number; the numbers are stored, so that they never change.
public enum StateCode: UInt8, Hashable, Sendable, CaseIterable {
  /// There was none.
  case none = 0
  /// The machine: not known.
  case unknown = 1
  /// The machine: no packet can leave.
  case notReachable = 2
  /// The machine: a packet can leave over Ethernet or Wi-Fi.
  case reachable = 3
  /// The machine: a packet can leave over a cellular modem.
  case reachableWWAN = 4
  /// An interface: it can pass packets.
  case interfaceUsable = 10
  /// An interface: it waits for an external event (RFC 2863 dormant).
  case interfaceDormant = 11
  /// An interface: it has no carrier.
  case interfaceLinkDown = 12
  /// An interface: it is disabled.
  case interfaceAdminDown = 13
  /// An interface: it was removed.
  case interfaceRemoved = 14
  /// A target: it answers.
  case targetUp = 20
  /// A target: it does not answer.
  case targetDown = 21
  /// A target: there is no path to it.
  case targetUnreachable = 22
  /// A target: not known.
  case targetUnknown = 23
  /// A target: checks are suspended.
  case targetPaused = 24
  /// A target: it was removed.
  case targetRemoved = 25
  /// The service runs.
  case serviceRunning = 30
  /// The service does not run.
  case serviceStopped = 31
  /// A gate: everything that it requires is reachable.
  case gateOpen = 40
  /// A gate: it is not, or it is not known.
  case gateClosed = 41
  /// A gate: it was removed.
  case gateRemoved = 42

  /// The state of a machine.
  public init(_ status: ReachabilityStatus) {
    switch status {
    case .unknown: self = .unknown
    case .notReachable: self = .notReachable
    case .reachable(.ethernetOrWiFi): self = .reachable
    case .reachable(.wwan): self = .reachableWWAN
    }
  }

  package init(_ usability: InterfaceUsability) {
    switch usability {
    case .usable: self = .interfaceUsable
    case .dormant: self = .interfaceDormant
    case .linkDown: self = .interfaceLinkDown
    case .adminDown: self = .interfaceAdminDown
    }
  }

  /// The state of a registered target.
  public init(_ state: TargetState) {
    switch state {
    case .up: self = .targetUp
    case .down: self = .targetDown
    case .unreachable: self = .targetUnreachable
    case .unknown: self = .targetUnknown
    case .paused: self = .targetPaused
    }
  }

  /// The state of a gate.
  public init(_ state: GateState) { self = state == .open ? .gateOpen : .gateClosed }

  /// The state's name on the wire.
  public var name: String {
    switch self {
    case .none: "none"
    case .unknown, .targetUnknown: "unknown"
    case .notReachable: "notReachable"
    case .reachable, .reachableWWAN: "reachable"
    case .interfaceUsable: "usable"
    case .interfaceDormant: "dormant"
    case .interfaceLinkDown: "linkDown"
    case .interfaceAdminDown: "adminDown"
    case .interfaceRemoved, .targetRemoved, .gateRemoved: "removed"
    case .targetUp: "up"
    case .targetDown: "down"
    case .targetUnreachable: "unreachable"
    case .targetPaused: "paused"
    case .serviceRunning: "running"
    case .serviceStopped: "stopped"
    case .gateOpen: "open"
    case .gateClosed: "closed"
    }
  }
}
