/// Decides which agents a replica asks to check a target now, because the check of another agent has failed.
///
/// A request is not a vote and changes no state: when it is lost or dropped, the agents' own checks come later.
struct FleetCheckRequests: Sendable {
  /// When each target was asked about, if that may matter still.
  private var times: [String: Duration] = [:]
  /// The begin of the present second, and the targets that were asked about in it.
  private var second = Duration.zero
  private var count = 0

  /// The targets that each agent has to check, after an agent has suspected some.
  ///
  /// - Parameters:
  ///   - suspects: the ids of the targets.
  ///   - agent: the agent that suspects them.
  ///   - fold: the agents and targets.
  ///   - replica: this replica, which asks about the targets in whose ranking it is the first one.
  ///   - now: the monotonic time.
  /// - Returns: the requests, by the agents' ids.
  mutating func requests(
    about suspects: [String], of agent: String, _ fold: FleetFold, by replica: String, at now: Duration
  ) -> [(agent: String, targets: [String])] {
    guard fold.nodes[agent]?.state == .present else { return [] }
    if now - second >= .seconds(1) {
      (second, count) = (now, 0)
      times = times.filter { now - $0.value < FleetLimits.suspicionPause }
    }
    let replicas = fold.presentReplicas
    var targets: [String: [String]] = [:]
    for id in suspects.prefix(FleetLimits.suspectsPerHeartbeat) where count < FleetLimits.suspicionsPerSecond {
      guard let target = fold.targets[id], target.assigned.contains(agent),
        now - (times[id] ?? now - FleetLimits.suspicionPause) >= FleetLimits.suspicionPause,
        FleetRendezvousHash.rank(of: replica, among: replicas, for: id) == 0
      else { continue }
      let others = target.assigned.filter { $0 != agent && fold.nodes[$0]?.state == .present }
      guard !others.isEmpty else { continue }
      times[id] = now
      count += 1
      for other in FleetRendezvousHash.order(others, for: id).prefix(FleetLimits.askedAgents) {
        targets[other, default: []].append(id)
      }
    }
    return targets.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }
}
