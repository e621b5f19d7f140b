internal import ReachabilityModel

/// Identifies a ``ForwardingClass``, in as few bits as a ``EngineTargetID``.
typealias ForwardingClassID = Int32

/// The watched addresses to which the same routes apply: one lookup answers for all of them (ADR 15).
struct ForwardingClass {
  /// What the members of a class have in common.
  struct Key: Hashable {
    /// The longest prefix of a route or rule that contains the members.
    let prefix: IPPrefix
    /// The protocol and port of the members' packets; nil while no policy rule matches these.
    let transport: TransportSelector?
  }

  let key: Key
  var prefix: IPPrefix { key.prefix }
  /// The lookup that represents the class, of one of its members; nil before the first.
  var query: RouteQuery?
  /// The prefix and table of the route found, to ignore changes that cannot matter; nil when the lookup failed.
  var match: RouteChanges.Block?
  /// The path of all members, unless each has its own; ``EnginePathInterner/none`` before the first answer.
  var path = EnginePathInterner.none
  /// Every member has this path and it was reported.
  ///
  /// The per-member columns are stale then, so that a change of the class
  /// costs the same for any number of members.
  var isUniform = false
  /// Members need a lookup each: multipath, or several source addresses to choose from.
  var isPerMember = false
  /// The next reading looks the class up.
  var isAffected = false
  /// The survey in which the class was last looked up.
  var survey: UInt64 = 0
  /// Members were added after the last answer.
  var hasNewMembers = true

  init(_ key: Key) { self.key = key }

  func query(for member: IPAddress) -> RouteQuery { RouteQuery(member, transport: key.transport) }

  /// Whether a change of a prefix that contains the class may change its answer.
  ///
  /// Within one table the longest match wins, so a change of a shorter prefix has no effect on a class with a longer match.
  /// IPv6 routers are the exception: the kernel skips a router that does not answer.
  func isAffected(by change: RouteChanges.Block) -> Bool {
    guard let match, match.table == change.table, change.table != 0 else { return true }
    return match.prefix.length <= change.prefix.length || match.prefix.address.family == .ipv6
  }
}
