extension TargetSpec {
  /// A field of a definition, as in files and request bodies.
  public enum Field: String, Hashable, Sendable, CaseIterable {
    /// The fields.
    case id, target, module, interval, timeout, fastInterval, fall, rise, labels, paused, dependsOn
  }

  /// One invalid field: what is wrong, and what would be right.
  public struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The field.
    public var field: Field
    /// The label, when ``field`` is `labels`; nil for all of them.
    public var label: String?
    /// What is wrong.
    public var problem: String
    /// What would be right.
    public var hint: String

    /// Creates a fault.
    public init(_ field: Field, label: String? = nil, _ problem: String, hint: String) {
      self.field = field
      self.label = label
      self.problem = problem
      self.hint = hint
    }

    /// The problem and the hint in one line.
    public var description: String { "\(problem); \(hint)" }
  }

  /// All faults of a specification.
  public struct Faults: Error, Hashable, Sendable {
    /// The faults in the order of the fields; never empty.
    public var faults: [Fault]

    /// Creates an error from faults.
    public init(_ faults: [Fault]) { self.faults = faults }
  }

  /// The limits of a definition's fields.
  public enum Bounds {
    /// The interval; below a tenth of a second, checks only cause load.
    public static let interval = Duration.milliseconds(100)...Duration.seconds(86_400)
    /// The timeout.
    public static let timeout = Duration.milliseconds(1)...Duration.seconds(60)
    /// Consecutive results.
    public static let count = 1...100
    /// Bytes of an id: as many as a label of the DNS has, after the `mesh.` of a target that checks an agent of a fleet.
    public static let id = 1...68
    /// Labels of a target.
    public static let labels = 32
    /// Bytes of a label's name.
    public static let label = 1...63
    /// Bytes of a label's value.
    public static let labelValue = 0...128
    /// Entries of ``TargetDefinition/dependsOn``.
    public static let dependencies = 16
    /// Parents in one entry.
    public static let alternatives = 1...8
    /// Targets from one without parents to one without children, by which an outage can be followed.
    public static let dependencyDepth = 8
  }
}
