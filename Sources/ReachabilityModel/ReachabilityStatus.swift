/// Whether a target can be reached, in the terms of Alamofire and AFNetworking.
///
/// *Reachable* means that a packet can leave this machine towards the target, not that the target answers.
public enum ReachabilityStatus: Hashable, Sendable {
  /// Not known: the kernel has not answered yet, or cannot be queried.
  case unknown
  /// No packet can leave towards the target.
  case notReachable
  /// A packet can leave.
  case reachable(ConnectionType)

  /// The two kinds of connection that the Apple libraries distinguish.
  public enum ConnectionType: String, Hashable, Sendable {
    /// Everything that is not cellular.
    case ethernetOrWiFi
    /// Cellular.
    case wwan
  }

  /// Whether the status is reachable, over either kind of connection.
  public var isReachable: Bool { connectionType != nil }

  /// The kind of connection; nil unless reachable.
  public var connectionType: ConnectionType? {
    guard case .reachable(let type) = self else { return nil }
    return type
  }

  /// `unknown`, `notReachable` or `reachable`.
  public var name: String {
    switch self {
    case .unknown: "unknown"
    case .notReachable: "notReachable"
    case .reachable: "reachable"
    }
  }
}

extension ReachabilityStatus {
  /// Creates the status for a set of flags, by the rule of Alamofire 4.5 and later and of AFNetworking.
  ///
  /// It is reachable when ``ReachabilityFlags/reachable`` is set and either no connection is required, or one that is
  /// established automatically (on traffic or on demand) without user action.
  public init(_ flags: ReachabilityFlags) {
    let makesItself =
      !flags.isDisjoint(with: [.connectionOnTraffic, .connectionOnDemand]) && !flags.contains(.interventionRequired)
    if flags.contains(.reachable), !flags.contains(.connectionRequired) || makesItself {
      self = .reachable(flags.contains(.isWWAN) ? .wwan : .ethernetOrWiFi)
    } else {
      self = .notReachable
    }
  }
}

extension ReachabilityStatus: CustomStringConvertible {
  /// The status in Swift's notation: `unknown`, `notReachable`, `reachable(ethernetOrWiFi)`, `reachable(wwan)`.
  public var description: String {
    guard case .reachable(let type) = self else { return name }
    return "\(name)(\(type.rawValue))"
  }
}

/// Why a verdict is not simply reachable.
///
/// The set is open: later versions may add reasons.
public struct Reason: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The reason's name on the wire.
  public let rawValue: String
  /// Creates a reason from its name.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The reason's name on the wire.
  public var description: String { rawValue }

  /// No route covers the target, a rule or table rejects it as unreachable, or the interface is disabled.
  public static let noRoute = Reason(rawValue: "noRoute")
  /// An `unreachable` route covers it.
  public static let unreachableRoute = Reason(rawValue: "unreachableRoute")
  /// A `blackhole` route or rule drops it.
  public static let blackhole = Reason(rawValue: "blackhole")
  /// A `prohibit` route or rule forbids it.
  public static let prohibited = Reason(rawValue: "prohibited")
  /// The route leads to an interface without a carrier.
  public static let linkDown = Reason(rawValue: "linkDown")
  /// There is a route, but no source address.
  public static let noSource = Reason(rawValue: "noSource")
  /// The target is a broadcast or multicast address, to which no connection can be made.
  public static let notUnicast = Reason(rawValue: "notUnicast")
  /// The route leads to a dormant interface: a connection must be established first.
  public static let connectionRequired = Reason(rawValue: "connectionRequired")
  /// As ``connectionRequired``, and it needs user action.
  public static let interventionRequired = Reason(rawValue: "interventionRequired")
  /// The target is bound to an interface that does not exist.
  public static let unknownInterface = Reason(rawValue: "unknownInterface")
  /// The name does not exist.
  public static let dnsNotFound = Reason(rawValue: "dnsNotFound")
  /// The name servers failed or refused.
  public static let dnsServerFailure = Reason(rawValue: "dnsServerFailure")
  /// The name servers did not answer in time.
  public static let dnsTimeout = Reason(rawValue: "dnsTimeout")
  /// The resolver could not start: the system refused a descriptor or a thread.
  public static let resolverUnavailable = Reason(rawValue: "resolverUnavailable")
  /// No reading has been made yet.
  public static let starting = Reason(rawValue: "starting")
  /// The kernel could not be queried.
  public static let kernelUnavailable = Reason(rawValue: "kernelUnavailable")
}

/// The cause of a changed verdict.
///
/// The set is open: later versions may add causes.
public struct Cause: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The cause's name on the wire.
  public let rawValue: String
  /// Creates a cause from its name.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The cause's name on the wire.
  public var description: String { rawValue }

  /// An interface was enabled.
  public static let linkUp = Cause(rawValue: "linkUp")
  /// An interface was disabled or removed.
  public static let linkDown = Cause(rawValue: "linkDown")
  /// An interface was renamed.
  public static let renamed = Cause(rawValue: "renamed")
  /// An interface gained its carrier.
  public static let carrierGained = Cause(rawValue: "carrierGained")
  /// An interface lost its carrier.
  public static let carrierLost = Cause(rawValue: "carrierLost")
  /// An address became usable.
  public static let addressAdded = Cause(rawValue: "addressAdded")
  /// An address was removed or became unusable.
  public static let addressRemoved = Cause(rawValue: "addressRemoved")
  /// A route was added.
  public static let routeAdded = Cause(rawValue: "routeAdded")
  /// A route was removed.
  public static let routeRemoved = Cause(rawValue: "routeRemoved")
  /// A route was replaced by another.
  public static let routeReplaced = Cause(rawValue: "routeReplaced")
  /// The lifetime of a route expired.
  public static let routeExpired = Cause(rawValue: "routeExpired")
  /// A policy rule changed.
  public static let ruleChanged = Cause(rawValue: "ruleChanged")
  /// A nexthop object changed.
  public static let nexthopChanged = Cause(rawValue: "nexthopChanged")
  /// An IPv6 router stopped answering or answers again.
  public static let neighbourChanged = Cause(rawValue: "neighbourChanged")
  /// The addresses of a name changed.
  public static let dnsChanged = Cause(rawValue: "dnsChanged")
  /// Kernel events were lost and everything was read again.
  public static let resync = Cause(rawValue: "resync")
  /// The machine resumed from suspend.
  public static let resume = Cause(rawValue: "resume")
  /// The service's own configuration changed, or a setting of the kernel for an interface (sysctl).
  public static let configuration = Cause(rawValue: "configuration")
  /// An active check changed the verdict.
  public static let check = Cause(rawValue: "check")

  /// The state changed while the service did not run.
  public static let restart = Cause(rawValue: "restart")

  /// The order in which causes are listed.
  public static let inOrder: [Cause] = [
    .linkUp, .linkDown, .renamed, .carrierGained, .carrierLost, .addressAdded, .addressRemoved, .routeAdded,
    .routeRemoved, .routeReplaced, .routeExpired, .ruleChanged, .nexthopChanged, .neighbourChanged, .dnsChanged,
    .resync, .resume, .configuration, .check, .restart,
  ]

  /// The causes in their listing order.
  public static func sorted(_ causes: Set<Cause>) -> [Cause] {
    causes.count < 2 ? Array(causes) : inOrder.filter(causes.contains)
  }
}
