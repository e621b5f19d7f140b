internal import Locks

/// A condition for the liveness or readiness of the service.
public struct HealthCheck: Sendable {
  /// The name in `/readyz?verbose` and `/readyz/{name}`.
  public var name: String
  /// Whether a failure is only a warning, which is shown but does not change the result.
  public var isWarning: Bool
  /// Returns nil when the check passes, otherwise a short description of the failure.
  public var diagnostic: @Sendable () -> String?

  /// Creates a check; `diagnostic` must not block.
  public init(_ name: String, isWarning: Bool = false, diagnostic: @escaping @Sendable () -> String?) {
    self.name = name
    self.isWarning = isWarning
    self.diagnostic = diagnostic
  }
}

/// Whether the service is alive and ready, independent of the network.
///
/// An orchestrator restarts a service that is not alive and sends no traffic to one that is not ready. Neither repairs
/// a network failure.
final class Health: Sendable {
  let live: [HealthCheck]
  private let readiness: Locked<[HealthCheck]>
  private let drain = Drain()

  init(live: [HealthCheck], ready: [HealthCheck]) {
    self.live = live
    let draining = HealthCheck("draining") { [drain] in drain.isDraining ? "the service is stopping" : nil }
    readiness = Locked(ready + [draining])
  }

  var ready: [HealthCheck] { readiness.withLock(\.self) }

  func add(_ check: HealthCheck) { readiness.withLock { $0.append(check) } }

  private final class Drain: Sendable {
    private let state = Locked(false)
    var isDraining: Bool { state.withLock(\.self) }
    func begin() { state.withLock { $0 = true } }
  }

  /// Makes the service not ready, permanently.
  func beginDrain() { drain.begin() }

  var isDraining: Bool { drain.isDraining }
}
