internal import Locks

/// A condition for the liveness or readiness of the service.
public struct HealthCheck: Sendable {
  /// The result of a check; the texts describe the failure.
  public enum Result: Sendable {
    /// The condition is met.
    case pass
    /// It is not, which is shown but does not change the result of `/readyz` or `/livez`.
    case warn(String)
    /// It is not.
    case fail(String)

    /// The description of the failure; nil for none.
    public var diagnostic: String? {
      switch self {
      case .pass: nil
      case .warn(let text), .fail(let text): text
      }
    }
  }

  /// The name in `/readyz?verbose` and `/readyz/{name}`.
  public var name: String
  /// Makes the check.
  public var result: @Sendable () -> Result

  /// Creates a check; `result` must not block.
  public init(_ name: String, result: @escaping @Sendable () -> Result) {
    self.name = name
    self.result = result
  }

  /// Creates a check that fails, or warns only; `diagnostic` must not block and returns nil when the check passes.
  public init(_ name: String, isWarning: Bool = false, diagnostic: @escaping @Sendable () -> String?) {
    self.init(name) { diagnostic().map { isWarning ? .warn($0) : .fail($0) } ?? .pass }
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
