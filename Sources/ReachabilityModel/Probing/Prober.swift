/// One check to make: a target, how, and within which bounds.
public struct ProbeRequest: Hashable, Sendable {
  /// Who is asked.
  public var target: ProbeTarget
  /// How; it must fit the target's scheme (``ProbeModule/fits(_:)``).
  public var module: ProbeModule
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
    _ target: ProbeTarget, module: ProbeModule? = nil, timeout: Duration = .seconds(5), family: FamilyChoice? = nil,
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
public enum Passage: Hashable, Sendable {
  /// It may.
  case open
  /// There is no way to it.
  case missing
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
  func probe(_ request: ProbeRequest, _ completion: @escaping @Sendable (ProbeResult) -> Void) -> any ProbeCancellation

  /// The same, but of a name only the addresses are asked that may be: a packet to one without a way would be sent for
  /// nothing, and the whole timeout waited for.
  ///
  /// - Parameters:
  ///   - request: what to do.
  ///   - passage: whether an address may be asked, at a port where there is one; asked on the prober's thread before
  ///     anything is sent there, and must not block.
  ///   - completion: as with ``probe(_:_:)``; the result of a name without such an address is `unreachable`, with the first
  ///     of its addresses that is not denied, or ``Reason/policyDenied`` when all are.
  /// - Returns: the means to end it early.
  @discardableResult
  func probe(
    _ request: ProbeRequest, where passage: @escaping @Sendable (IPAddress, UInt16?) -> Passage,
    _ completion: @escaping @Sendable (ProbeResult) -> Void
  ) -> any ProbeCancellation
}

extension Prober {
  /// Asks every address.
  @discardableResult
  public func probe(
    _ request: ProbeRequest, where passage: @escaping @Sendable (IPAddress, UInt16?) -> Passage,
    _ completion: @escaping @Sendable (ProbeResult) -> Void
  ) -> any ProbeCancellation {
    probe(request, completion)
  }
}

/// The means to end one check early.
public protocol ProbeCancellation: Sendable {
  /// Completes the check with `unknown` and ``Reason/cancelled``, unless it is complete; from any thread, at any time.
  func cancel()
}
