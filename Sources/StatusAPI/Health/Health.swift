internal import Locks

/// One thing that must be so for the service to be alive or ready.
public struct HealthCheck: Sendable {
  /// Its name in `/readyz?verbose` and `/readyz/{name}`.
  public var name: String
  /// Whether a complaint is no more than a warning: it is shown, and alters nothing.
  public var isWarning: Bool
  /// Nil when all is well, else what is wrong, in a few words.
  public var diagnostic: @Sendable () -> String?

  /// A check; `diagnostic` must not block.
  public init(_ name: String, isWarning: Bool = false, diagnostic: @escaping @Sendable () -> String?) {
    self.name = name
    self.isWarning = isWarning
    self.diagnostic = diagnostic
  }
}

/// Whether the service is alive and ready: never whether the network is.
///
/// An orchestrator restarts what is not alive and sends no traffic to what is not ready; neither would mend a cable.
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

  /// From now on the service is not ready.
  func beginDrain() { drain.begin() }

  var isDraining: Bool { drain.isDraining }
}
