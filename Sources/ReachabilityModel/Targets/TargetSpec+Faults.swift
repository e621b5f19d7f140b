extension TargetSpec {
  /// The field of a definition, as files and bodies call it.
  public enum Field: String, Hashable, Sendable, CaseIterable {
    /// The fields.
    case id, target, module, interval, timeout, fastInterval, fall, rise, labels, paused
  }

  /// What is wrong with one field, and what to write instead.
  public struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
    /// Which field.
    public var field: Field
    /// Which label, when ``field`` is `labels`; nil for all of them.
    public var label: String?
    /// What is wrong.
    public var problem: String
    /// What to write instead.
    public var hint: String

    /// A fault.
    public init(_ field: Field, label: String? = nil, _ problem: String, hint: String) {
      self.field = field
      self.label = label
      self.problem = problem
      self.hint = hint
    }

    /// The problem and the hint in one line.
    public var description: String { "\(problem); \(hint)" }
  }

  /// All that is wrong with a draft.
  public struct Faults: Error, Hashable, Sendable {
    /// In the order of the fields; never empty.
    public var faults: [Fault]

    /// All that is wrong.
    public init(_ faults: [Fault]) { self.faults = faults }
  }

  /// The bounds of a definition.
  public enum Bounds {
    /// Below a tenth of a second checks are load, not knowledge.
    public static let interval = Duration.milliseconds(100)...Duration.seconds(86_400)
    /// Nobody waits longer for an answer.
    public static let timeout = Duration.milliseconds(1)...Duration.seconds(60)
    /// Results in a row.
    public static let count = 1...100
    /// Bytes of an id.
    public static let id = 1...63
    /// Labels of a target.
    public static let labels = 32
    /// Bytes of a label's name.
    public static let label = 1...63
    /// Bytes of a label's value.
    public static let labelValue = 0...128
  }
}
