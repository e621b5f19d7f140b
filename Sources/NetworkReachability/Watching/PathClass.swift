internal import ReachabilityModel

/// The watched addresses that run through the same routes: the kernel is asked about one of them, and answers for all.
struct PathClass {
  /// The longest block of a route or rule around them.
  let block: IPPrefix
  /// The question that stands for the class, about one of its members; nil before the first.
  var query: RouteQuery?
  /// The route that matched, as far as it tells which changes cannot matter; nil when the kernel refused.
  var match: RouteChanges.Block?
  /// The path of all members, unless each has its own; ``TargetIndex/unknown`` before the first answer.
  var path = TargetIndex.unknown
  /// Every member has this path and has been told so, and its own columns are not kept up: what happens to the class
  /// happens to all of them, however many there are.
  var isUniform = false
  /// Members must be asked one by one: multipath, or several source addresses to choose from.
  var isSpread = false
  /// The next reading asks.
  var isTouched = false
  /// The survey that asked last.
  var round: UInt64 = 0
  /// Members came since the last answer.
  var hasNewMembers = true

  init(block: IPPrefix) { self.block = block }

  /// Whether a changed block may change the answer for this class, which lies in it.
  ///
  /// Within one table the longest match wins: what happens to shorter blocks there matters to nobody who matched a longer
  /// one. With IPv6 routers it does, because the kernel passes over a router that does not answer.
  func isAffected(by change: RouteChanges.Block) -> Bool {
    guard let match, match.table == change.table, change.table != 0 else { return true }
    return match.prefix.length <= change.prefix.length || match.prefix.address.family == .ipv6
  }
}
