internal import Locks
internal import ReachabilityFleet

/// The last decision which agents check which others: with a thousand agents it takes a hundred milliseconds.
final class FleetMeshChecksCache: Sendable {
  private let last = Locked<FleetMeshChecks?>(nil)

  /// The decision for the agents of a fold.
  func checks(_ fold: FleetFold) -> FleetMeshChecks {
    if let last = last.withLock(\.self), last.isCurrent(for: fold) { return last }
    let checks = FleetMeshChecks(fold)
    last.withLock { $0 = checks }
    return checks
  }
}
