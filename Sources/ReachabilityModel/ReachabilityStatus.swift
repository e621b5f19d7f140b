/// Whether a target can be reached, as Alamofire and AFNetworking put it.
///
/// *Reachable* means that a packet can leave this machine towards the target, not that the target answers.
public enum ReachabilityStatus: Hashable, Sendable {
  /// Not known, because the kernel could not be asked, or not yet.
  case unknown
  /// No packet can leave towards the target.
  case notReachable
  /// A packet can leave.
  case reachable(ConnectionType)

  /// The two kinds of connection that the Apple libraries tell apart.
  public enum ConnectionType: String, Hashable, Sendable {
    /// Everything that is not cellular.
    case ethernetOrWiFi
    /// Cellular.
    case wwan
  }

  /// True for both kinds of reachable.
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
  /// The status that a set of flags means: the rule of Alamofire 4.5 and later, and of AFNetworking.
  ///
  /// Reachable when ``ReachabilityFlags/reachable`` is set and either no connection is required, or one that makes
  /// itself (on traffic or on demand) without a person's help.
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
  /// As Swift spells it: `unknown`, `notReachable`, `reachable(ethernetOrWiFi)`, `reachable(wwan)`.
  public var description: String {
    guard case .reachable(let type) = self else { return name }
    return "\(name)(\(type.rawValue))"
  }
}

/// Why a verdict is not plainly reachable.
///
/// Open: later versions may add reasons.
public struct Reason: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The reason's name on the wire.
  public let rawValue: String
  /// A reason from its name.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The reason's name on the wire.
  public var description: String { rawValue }

  /// No route covers the target, or a rule or table refuses it as unreachable, or the interface is switched off.
  public static let noRoute = Reason(rawValue: "noRoute")
  /// An `unreachable` route covers it.
  public static let unreachableRoute = Reason(rawValue: "unreachableRoute")
  /// A `blackhole` route or rule swallows it.
  public static let blackhole = Reason(rawValue: "blackhole")
  /// A `prohibit` route or rule forbids it.
  public static let prohibited = Reason(rawValue: "prohibited")
  /// The route leads to an interface that has no carrier.
  public static let linkDown = Reason(rawValue: "linkDown")
  /// There is a route, but no own address to send from.
  public static let noSource = Reason(rawValue: "noSource")
  /// The route leads to a dormant interface: a connection must be made first.
  public static let connectionRequired = Reason(rawValue: "connectionRequired")
  /// As ``connectionRequired``, and a person must do it.
  public static let interventionRequired = Reason(rawValue: "interventionRequired")
  /// The target is bound to an interface that does not exist now.
  public static let unknownInterface = Reason(rawValue: "unknownInterface")
  /// The name does not exist.
  public static let dnsNotFound = Reason(rawValue: "dnsNotFound")
  /// The name servers failed or refused.
  public static let dnsServerFailure = Reason(rawValue: "dnsServerFailure")
  /// The name servers did not answer in time.
  public static let dnsTimeout = Reason(rawValue: "dnsTimeout")
  /// The resolver could not start: the system refused a descriptor or a thread.
  public static let resolverUnavailable = Reason(rawValue: "resolverUnavailable")
  /// Nothing has been read yet.
  public static let starting = Reason(rawValue: "starting")
  /// The kernel could not be asked.
  public static let kernelUnavailable = Reason(rawValue: "kernelUnavailable")
}

/// What made a verdict change.
///
/// Open: later versions may add causes.
public struct Cause: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The cause's name on the wire.
  public let rawValue: String
  /// A cause from its name.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The cause's name on the wire.
  public var description: String { rawValue }

  /// An interface was switched on.
  public static let linkUp = Cause(rawValue: "linkUp")
  /// An interface was switched off or went away.
  public static let linkDown = Cause(rawValue: "linkDown")
  /// A cable or radio came back.
  public static let carrierGained = Cause(rawValue: "carrierGained")
  /// A cable or radio was lost.
  public static let carrierLost = Cause(rawValue: "carrierLost")
  /// An address became usable.
  public static let addressAdded = Cause(rawValue: "addressAdded")
  /// An address went away or became unusable.
  public static let addressRemoved = Cause(rawValue: "addressRemoved")
  /// A route was added.
  public static let routeAdded = Cause(rawValue: "routeAdded")
  /// A route was removed.
  public static let routeRemoved = Cause(rawValue: "routeRemoved")
  /// A route took another's place.
  public static let routeReplaced = Cause(rawValue: "routeReplaced")
  /// The lifetime of a route ran out.
  public static let routeExpired = Cause(rawValue: "routeExpired")
  /// A policy rule changed.
  public static let ruleChanged = Cause(rawValue: "ruleChanged")
  /// A nexthop object changed.
  public static let nexthopChanged = Cause(rawValue: "nexthopChanged")
  /// An IPv6 router does not answer any more, or answers again.
  public static let neighbourChanged = Cause(rawValue: "neighbourChanged")
  /// A name has other addresses now.
  public static let dnsChanged = Cause(rawValue: "dnsChanged")
  /// Kernel events were lost and everything was read again.
  public static let resync = Cause(rawValue: "resync")
  /// The machine woke from sleep.
  public static let resume = Cause(rawValue: "resume")
  /// Our own configuration changed.
  public static let configuration = Cause(rawValue: "configuration")
  /// An active check.
  public static let check = Cause(rawValue: "check")

  /// The order in which causes are listed.
  public static let inOrder: [Cause] = [
    .linkUp, .linkDown, .carrierGained, .carrierLost, .addressAdded, .addressRemoved, .routeAdded, .routeRemoved,
    .routeReplaced, .routeExpired, .ruleChanged, .nexthopChanged, .neighbourChanged, .dnsChanged, .resync, .resume,
    .configuration, .check,
  ]

  /// The causes as a list in their usual order, without repeats.
  public static func sorted(_ causes: Set<Cause>) -> [Cause] {
    causes.count < 2 ? Array(causes) : inOrder.filter(causes.contains)
  }
}
