/// What a target needs as a child or a parent of others.
struct DependencyState {
  /// When the first bad result was received since the last good one, or since the last recovery of its parents.
  var failingSince: Duration?
  /// The parents whose results a held change waits for.
  var awaited: Set<String> = []
  /// When a check began the last time on behalf of its children.
  var askedAt: Duration?
  /// The time of the last check that was planned because its parents recovered.
  var recoveryDue: Duration?
}
