/// A gate's definition as specified by a user: some fields, not validated.
public struct GateSpec: Hashable, Sendable {
  /// A field of a definition, as in files and request bodies.
  public enum Field: String, Hashable, Sendable, CaseIterable {
    /// The fields.
    case machine, targets, select, clients, atLeast, openAfter, paused
  }

  /// What `paused` can be.
  public enum Paused: String, Hashable, Sendable, CaseIterable {
    /// A paused member is missing, or left out.
    case close, ignore
  }

  /// The limits of a definition's fields.
  public enum Bounds {
    /// Gates: each is evaluated at every change of its members.
    public static let gates = 256
    /// Named targets of a gate.
    public static let targets = 1_000
    /// Named targets of all gates: each costs about 300 bytes, also while it is not registered.
    public static let allTargets = 10_000
    /// The time of ``GateDefinition/openAfter``.
    public static let openAfter = Duration.zero...Duration.seconds(86_400)
    /// Faults of one list that are reported: a response is not many times larger than its request.
    static let faultsOfList = 8
  }

  /// The name.
  public var id = ""
  /// `reachable`.
  public var machine: String?
  /// `ethernetOrWiFi` or `wwan`.
  public var connectionType: String?
  /// The ids of named targets.
  public var targets: [String] = []
  /// The labels of selected targets.
  public var selection: [String: String] = [:]
  /// See ``GateDefinition/includesClients``.
  public var includesClients = false
  /// See ``GateDefinition/Quorum/init(_:)``; nil for all.
  public var atLeast: String?
  /// See ``GateDefinition/openAfter``.
  public var openAfter = Duration.zero
  /// `close` or `ignore`; nil for `close`.
  public var paused: String?

  /// Creates an empty specification.
  public init(id: String = "") { self.id = id }

  /// One invalid field: what is wrong, and what would be right.
  public struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The field; nil for the id or the whole definition.
    public var field: Field?
    /// What is wrong.
    public var problem: String
    /// What would be right.
    public var hint: String

    /// The problem and the hint in one line.
    public var description: String { "\(problem); \(hint)" }
  }

  /// All faults of a specification.
  public struct Faults: Error, Hashable, Sendable {
    /// The faults; empty only if all of them are known to the caller.
    public var faults: [Fault]
  }

  /// The definition with defaults for omitted fields.
  ///
  /// - Parameter unreadable: fields whose values could not be read; nothing is said about them, nor about what depends on them.
  /// - Returns: a valid definition.
  /// - Throws: all faults of the other fields.
  public func definition(except unreadable: Set<Field> = []) throws(Faults) -> GateDefinition {
    var faults: [Fault] = []
    func check(_ field: Field?, _ isValid: Bool, _ problem: @autoclosure () -> String, _ hint: String) {
      if !isValid { faults.append(Fault(field: field, problem: problem(), hint: hint)) }
    }
    check(nil, TargetSpec.isID(id), "\(id.shortened) is not an id of a gate", Self.idForm)
    let condition = machineCondition()
    check(
      .machine, condition != nil || machine == nil && connectionType == nil,
      "\((connectionType ?? machine ?? "").shortened) is not a condition for the machine",
      "expected reachable, or { connectionType: ethernetOrWiFi } or wwan")
    for target in targets.filter({ !TargetSpec.isID($0) }).prefix(Bounds.faultsOfList) {
      check(.targets, false, "\(target.shortened) is not an id of a target", Self.idForm)
    }
    check(
      .targets, targets.count <= Bounds.targets, "there are \(targets.count) targets",
      "at most \(Bounds.targets) are possible; select more by labels")
    checkSelection(isReadable: !unreadable.contains(.select), check)
    let quorum = atLeast.map(GateDefinition.Quorum.init) ?? .all
    check(
      .atLeast, quorum != nil, "\((atLeast ?? "").shortened) is not a number of targets",
      "expected all, a number from 1, or a percentage above 0% and up to 100%")
    check(
      .openAfter, Bounds.openAfter.contains(openAfter), "\(DurationFormat.shortest(openAfter)) is out of range",
      "expected a duration from 0s to 24h")
    let pausing = paused.map(Paused.init) ?? .close
    check(
      .paused, pausing != nil, "\((paused ?? "").shortened) is not a rule for paused targets",
      "expected close or ignore")
    check(
      nil, condition != nil || !targets.isEmpty || !selection.isEmpty || !faults.isEmpty || !unreadable.isEmpty,
      "the gate requires nothing", "give at least one of machine, targets and select")
    faults.removeAll { $0.field.map(unreadable.contains) ?? false }
    guard faults.isEmpty, unreadable.isEmpty, let quorum, let pausing else { throw Faults(faults: faults) }
    return GateDefinition(
      id: id, machine: condition, targets: Set(targets), selection: selection, includesClients: includesClients,
      atLeast: quorum, openAfter: openAfter, ignoresPaused: pausing == .ignore)
  }

  private static let idForm =
    #"an id has 1 to 68 characters of a-z, 0-9, ".", "_" and "-", and is not ".", ".." or "\#(TargetSpec.reservedID)""#

  private func machineCondition() -> GateDefinition.MachineCondition? {
    if let connectionType {
      return machine == nil
        ? ReachabilityStatus.ConnectionType(rawValue: connectionType).map { .connectionType($0) } : nil
    }
    return machine == "reachable" ? .reachable : nil
  }

  private func checkSelection(
    isReadable: Bool, _ check: (Field?, Bool, @autoclosure () -> String, String) -> Void
  ) {
    let (labels, values) = (TargetSpec.Bounds.labels, TargetSpec.Bounds.labelValue)
    check(.select, selection.count <= labels, "there are \(selection.count) labels", "at most \(labels) are possible")
    let sorted = selection.sorted { $0.key < $1.key }
    for (name, _) in sorted.filter({ !TargetSpec.isLabelName($0.key) }).prefix(Bounds.faultsOfList) {
      check(
        .select, false, "\(name.shortened) is not the name of a label",
        "expected a name such as tier or app.kubernetes.io/name")
    }
    // No target can have another one, so that the gate could never open.
    let impossible = sorted.map(\.value).filter { value in
      !values.contains(value.utf8.count) || value.utf8.contains { $0 < 0x20 || $0 == 0x7f }
    }
    for value in impossible.prefix(Bounds.faultsOfList) {
      check(
        .select, false, "\(value.shortened) is not the value of a label",
        "expected at most \(values.upperBound) bytes without control characters")
    }
    guard isReadable else { return }
    check(
      .atLeast, atLeast == nil || !selection.isEmpty, "there are no selected targets",
      "named targets are all required; select targets by labels, or omit it")
    check(
      .clients, !includesClients || !selection.isEmpty, "there are no selected targets",
      "select targets by labels, or omit it")
  }
}
