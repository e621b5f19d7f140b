import Glibc
import JetStream
import TestSupport
import Testing

/// Members of two versions, as while a fleet is updated: `REACHD_FLEET_OTHER` is the path of another `reachd-fleet`.
@Suite(
  "Members of two versions", .partOfFleetVerb,
  .enabled(if: FleetFaults.otherProgram != nil, "part of make test-fleet with REACHD_FLEET_OTHER"))
struct VersionTests {
  @Test("Subscribers that move between replicas of two versions lose and repeat nothing")
  func twoVersions() throws {
    let fleet = try FleetNetwork(.latest, servers: 1, otherProgram: FleetFaults.otherProgram)
    let baselines = fleet.baselines
    try fleet.flap(5)
    try fleet.expectNoLoss(since: baselines)
    // The first agent is updated.
    try fleet.restartAgent(0)
    try fleet.flap(2)
    try fleet.expectNoLoss(since: baselines)
  }
}
