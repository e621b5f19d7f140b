public import ReachabilityModel

extension CheckSchedule {
  /// What must be so for a target to be put.
  public enum Precondition: Hashable, Sendable {
    /// Nothing.
    case none
    /// It is not registered.
    case absent
    /// It is registered, and its definition is one of these.
    case revisions([UInt64])
    /// It is registered.
    case present
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

  /// Why nothing was done.
  public enum Refusal: Error, Hashable, Sendable {
    /// There is no such target.
    case missing
    /// The precondition does not hold.
    case precondition
    /// It stands in the configuration file, which alone may change it.
    case configured
    /// As many targets are registered as there may be.
    case full
  }
}
