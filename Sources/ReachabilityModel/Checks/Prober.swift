/// One check to perform: a target, a module, and limits.
public struct CheckRequest: Hashable, Sendable {
  /// The target.
  public var target: CheckTarget
  /// The module; it must fit the target's scheme (``CheckModule/fits(_:)``).
  public var module: CheckModule
  /// The time limit, including name resolution.
  public var timeout: Duration
  /// The address family that is used.
  public var family: CheckAddressFamily
  /// The source address; nil for the kernel's choice.
  public var source: IPAddress?
  /// The outgoing interface, by name (SO_BINDTODEVICE); nil for the kernel's choice.
  public var interface: String?
  /// The name of the host in the field `Host` and for TLS, as a caller of `/probe` sets it; nil for the target's.
  public var hostname: String?
  /// The addresses that the caller may contact; nil for a target of the configuration, which is trusted.
  public var policy: ContactPolicy?

  /// Creates a check of `target`; the default module is that of its scheme.
  public init(
    _ target: CheckTarget, module: CheckModule? = nil, timeout: Duration = .seconds(5),
    family: CheckAddressFamily? = nil, source: IPAddress? = nil, interface: String? = nil, hostname: String? = nil,
    policy: ContactPolicy? = nil
  ) {
    let module = module ?? .standard(for: target.scheme)
    self.target = target
    self.module = module
    self.timeout = timeout
    self.family = family ?? module.family
    self.source = source ?? target.host.source
    self.interface = interface ?? target.host.interface
    self.hostname = hostname
    self.policy = policy
  }
}

/// Performs checks: with sockets in production, a script in tests.
///
/// It does not handle `route` targets: the engine evaluates them.
public protocol Prober: AnyObject, Sendable {
  /// Starts one check; never blocks, from any thread.
  ///
  /// - Parameters:
  ///   - request: the check.
  ///   - completion: receives the result exactly once and must not block. It runs on the prober's thread, or on the
  ///     caller's if the request is rejected immediately.
  /// - Returns: a handle to cancel the check; releasing it has no effect.
  @discardableResult
  func check(_ request: CheckRequest, _ completion: @escaping @Sendable (CheckResult) -> Void) -> any CheckCancellation
}

/// Whether an address may be contacted at this moment.
package enum ContactDecision: Hashable, Sendable {
  case allowed
  case noRoute
  /// It leads to this machine, which the request's policy denies.
  case denied
}

/// A prober that requests a decision about each address of a name before it sends anything there.
package protocol SelectiveProber: Prober {
  /// Starts one check that contacts only the addresses of a name that are permitted.
  ///
  /// A packet to an address without a route would be wasted, and the check would wait for the whole timeout.
  ///
  /// - Parameters:
  ///   - request: the check.
  ///   - decision: whether an address may be contacted, at a port where there is one; called on the prober's thread
  ///     before anything is sent there, and must not block.
  ///   - completion: as with ``Prober/check(_:_:)``. If no address is permitted, the result is `unreachable` with the
  ///     first address that is not denied, or ``Reason/policyDenied`` when all are.
  /// - Returns: a handle to cancel the check.
  @discardableResult
  func check(
    _ request: CheckRequest, where decision: @escaping @Sendable (IPAddress, UInt16?) -> ContactDecision,
    _ completion: @escaping @Sendable (CheckResult) -> Void
  ) -> any CheckCancellation
}

extension Prober {
  /// Starts one check of the addresses that are permitted; every address is contacted if the prober is not selective.
  package func start(
    _ request: CheckRequest, where decision: @escaping @Sendable (IPAddress, UInt16?) -> ContactDecision,
    _ completion: @escaping @Sendable (CheckResult) -> Void
  ) -> any CheckCancellation {
    guard let selective = self as? any SelectiveProber else { return check(request, completion) }
    return selective.check(request, where: decision, completion)
  }
}

/// A handle to cancel one check.
public protocol CheckCancellation: Sendable {
  /// Completes the check with `unknown` and ``Reason/cancelled`` unless it is complete; from any thread, at any time.
  func cancel()
}
