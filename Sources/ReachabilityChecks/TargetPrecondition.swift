public import ReachabilityModel

/// The condition for a change of a registered target or a gate, as in conditional HTTP requests (RFC 9110 §13).
public indirect enum TargetPrecondition: Hashable, Sendable {
  /// None.
  case none
  /// The target is not registered.
  case absent
  /// The target is registered, with one of these revisions.
  case revisions([UInt64])
  /// The target is not registered, or its revision is not one of these.
  case otherThan([UInt64])
  /// The target is registered.
  case present
  /// Both conditions.
  case both(TargetPrecondition, TargetPrecondition)

  /// Why a target is not changed by an origin; nil when it may be.
  func rejection(of old: TargetReport?, _ origin: TargetOrigin) -> ScheduleChangeError? {
    guard isFulfilled(by: old?.revision) else { return .precondition }
    // The file precedes all, and what the fleet checks here is not changed by clients.
    if let old, old.origin == .configuration, origin != .configuration { return .configured }
    if let old, old.origin == .fleet, origin == .runtime { return .configured }
    return nil
  }

  /// Whether the condition is fulfilled; `revision` is nil for what is not registered.
  func isFulfilled(by revision: UInt64?) -> Bool {
    switch self {
    case .none: true
    case .absent: revision == nil
    case .present: revision != nil
    case .revisions(let revisions): revision.map(revisions.contains) ?? false
    case .otherThan(let revisions): revision.map { !revisions.contains($0) } ?? true
    case .both(let first, let second): first.isFulfilled(by: revision) && second.isFulfilled(by: revision)
    }
  }
}

/// The result of putting a target.
public enum TargetPutResult: Hashable, Sendable {
  /// The target is new.
  case created(TargetReport)
  /// The target was registered before.
  case replaced(TargetReport)
  /// Nothing was changed.
  case rejected(ScheduleChangeError)
}

/// Why a target was not changed.
public enum ScheduleChangeError: Error, Hashable, Sendable {
  /// The target is not registered.
  case missing
  /// The precondition is not fulfilled.
  case precondition
  /// The target belongs to the configuration file, which alone may change it.
  case configured
  /// It cannot depend on these targets.
  case dependency(DependencyFault)
  /// Other targets, with these ids, depend on it.
  case hasChildren([String])
  /// The change exceeds a limit.
  case quota(QuotaExcess)
  /// The account makes too many changes; it may make another one after this many seconds.
  case rateLimited(seconds: Int, QuotaExcess)
}

/// The result of a new configuration of targets.
public struct TargetConfigurationResult: Hashable, Sendable {
  /// The identifiers of targets that clients had registered and that belong to the configuration now.
  public var takenOver: [String] = []
  /// By the identifiers of targets that clients have registered, the parents that they cannot depend on any more.
  public var removedDependencies: [String: [String]] = [:]
}
