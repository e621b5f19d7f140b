internal import Locks
internal import ReachabilityFleet

/// Decides on the engine's threads which messages of agents are received.
final class GatewayAdmission: Sendable {
  private let gate: Locked<GatewayGate>
  private let start = ContinuousClock.now

  init(_ rate: GatewayRate) { gate = Locked(GatewayGate(rate)) }

  func admits(_ subject: String) -> Bool {
    let now = ContinuousClock.now - start
    return gate.withLock { $0.admits(subject, at: now) }
  }

  /// Receives nothing of a subject for some time.
  func close(_ subject: String, for time: Duration) {
    let end = ContinuousClock.now - start + time
    gate.withLock { $0.close(subject, until: end) }
  }

  /// The messages that were not received.
  var dropped: UInt64 { gate.withLock(\.dropped) }
}
