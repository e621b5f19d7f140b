/// One check to make: a target, how, and within which bounds.
public struct CheckRequest: Hashable, Sendable {
  /// Who is asked.
  public var target: CheckTarget
  /// How; it must fit the target's scheme (``CheckModule/fits(_:)``).
  public var module: CheckModule
  /// The time for everything, names included.
  public var timeout: Duration
  /// Which family is asked.
  public var family: FamilyChoice
  /// The own address to ask from; nil for the kernel's choice.
  public var source: IPAddress?
  /// The interface to leave through, by name (SO_BINDTODEVICE); nil for the kernel's choice.
  public var interface: String?
  /// Whom the caller may contact; nil for a target that we trust, because it stands in the configuration.
  public var policy: ContactPolicy?

  /// A check of `target`; without a module by the one its scheme picks.
  public init(
    _ target: CheckTarget, module: CheckModule? = nil, timeout: Duration = .seconds(5), family: FamilyChoice? = nil,
    source: IPAddress? = nil, interface: String? = nil, policy: ContactPolicy? = nil
  ) {
    let module = module ?? .standard(for: target.scheme)
    self.target = target
    self.module = module
    self.timeout = timeout
    self.family = family ?? module.family
    self.source = source ?? target.host.source
    self.interface = interface ?? target.host.interface
    self.policy = policy
  }
}

/// Whether an address may be asked, as of this moment.
public enum ContactDecision: Hashable, Sendable {
  /// It may.
  case allowed
  /// There is no way to it.
  case noRoute
  /// It leads to this machine, which the request's policy does not let the caller contact.
  case denied
}

/// Makes checks: sockets in production, a script in tests.
///
/// `route` targets are not its business: the engine answers them.
public protocol Prober: AnyObject, Sendable {
  /// Begins one check; never blocks, from any thread.
  ///
  /// - Parameters:
  ///   - request: what to do.
  ///   - completion: takes the result, exactly once, on the prober's own thread or, for a request that is refused at
  ///     once, on the caller's; it must not block.
  /// - Returns: the means to end it early; letting it go does nothing.
  @discardableResult
  func check(_ request: CheckRequest, _ completion: @escaping @Sendable (CheckResult) -> Void) -> any CheckCancellation

  /// The same, but of a name only the addresses are asked that may be: a packet to one without a way would be sent for
  /// nothing, and the whole timeout waited for.
  ///
  /// - Parameters:
  ///   - request: what to do.
  ///   - decision: whether an address may be asked, at a port where there is one; asked on the prober's thread before
  ///     anything is sent there, and must not block.
  ///   - completion: as with ``probe(_:_:)``; the result of a name without such an address is `unreachable`, with the first
  ///     of its addresses that is not denied, or ``Reason/policyDenied`` when all are.
  /// - Returns: the means to end it early.
  @discardableResult
  func check(
    _ request: CheckRequest, where decision: @escaping @Sendable (IPAddress, UInt16?) -> ContactDecision,
    _ completion: @escaping @Sendable (CheckResult) -> Void
  ) -> any CheckCancellation
}

extension Prober {
  /// Asks every address.
  @discardableResult
  public func check(
    _ request: CheckRequest, where decision: @escaping @Sendable (IPAddress, UInt16?) -> ContactDecision,
    _ completion: @escaping @Sendable (CheckResult) -> Void
  ) -> any CheckCancellation {
    check(request, completion)
  }
}

/// The means to end one check early.
public protocol CheckCancellation: Sendable {
  /// Completes the check with `unknown` and ``Reason/cancelled``, unless it is complete; from any thread, at any time.
  func cancel()
}
