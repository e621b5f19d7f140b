public import ReachabilityModel

extension CheckSchedule {
  /// What must be so for a target to be put, paused or removed.
  public indirect enum Precondition: Hashable, Sendable {
    /// Nothing.
    case none
    /// It is not registered.
    case absent
    /// It is registered, and its definition is one of these.
    case revisions([UInt64])
    /// It is not registered, or its definition is none of these.
    case otherThan([UInt64])
    /// It is registered.
    case present
    /// Each of two.
    case both(Precondition, Precondition)

    /// Whether it is so; `report` is nil for a target that is not registered.
    func holds(of report: TargetReport?) -> Bool {
      switch self {
      case .none: true
      case .absent: report == nil
      case .present: report != nil
      case .revisions(let revisions): report.map { revisions.contains($0.revision) } ?? false
      case .otherThan(let revisions): report.map { !revisions.contains($0.revision) } ?? true
      case .both(let first, let second): first.holds(of: report) && second.holds(of: report)
      }
    }
  }

  /// What became of a target that was put.
  public enum Placement: Hashable, Sendable {
    /// It is new.
    case created(TargetReport)
    /// It was there, and is as it was put now.
    case replaced(TargetReport)
    /// Nothing has changed.
    case refused(Refusal)
  }

  /// What a new configuration met with.
  public struct Reconfiguration: Hashable, Sendable {
    /// The ids of targets of callers that are the configuration's from now on.
    public var takenOver: [String] = []
  }

  /// Why nothing was done.
  public enum Refusal: Error, Hashable, Sendable {
    /// There is no such target.
    case missing
    /// The precondition does not hold.
    case precondition
    /// It stands in the configuration file, which alone may change it.
    case configured
    /// It exceeds a limit.
    case quota(QuotaExcess)
  }
}
