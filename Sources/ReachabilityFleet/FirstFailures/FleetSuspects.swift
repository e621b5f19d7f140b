/// The suspects of an agent: targets whose check has failed for the first time, until a heartbeat names them.
///
/// The number and the rate of these heartbeats are limited: an agent behind a router that has failed suspects everything,
/// and its heartbeats help no other agent. The time is an input.
public struct FleetSuspects: Sendable {
  private var waiting: [String] = []
  /// The earliest time of the next heartbeat with suspects.
  private var earliest = Duration.zero

  /// Creates an empty list.
  public init() {}

  /// Adds a target; beyond the limit of a heartbeat it is not added, because the other agents' own checks find it.
  ///
  /// - Parameters:
  ///   - target: the target's id.
  ///   - now: the monotonic time.
  /// - Returns: when to call ``take(at:)``; nil when a call is due already, or there is nothing new.
  public mutating func add(_ target: String, at now: Duration) -> Duration? {
    // The checks of other agents have no verdict.
    guard FleetMesh.agent(of: target) == nil, waiting.count < FleetLimits.suspectsPerHeartbeat,
      !waiting.contains(target)
    else { return nil }
    waiting.append(target)
    return waiting.count == 1 ? max(now, earliest) : nil
  }

  /// The targets for a heartbeat at this time, which are removed.
  public mutating func take(at now: Duration) -> [String] {
    earliest = now + FleetLimits.suspicionInterval
    defer { waiting = [] }
    return waiting
  }
}
