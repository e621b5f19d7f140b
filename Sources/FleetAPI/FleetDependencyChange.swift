internal import HTTPRouting
internal import ReachabilityChecks
internal import ReachabilityFleet
internal import ReachabilityModel
internal import StatusAPI

/// Changes of the entries of `dependsOn` of the fleet's targets.
enum FleetDependencyChange {
  /// Refuses entries that are faults among the targets of the fleet; those that a target has already stay.
  static func validate(_ definition: FleetTarget, of id: String, _ fold: FleetFold) throws(Problem) {
    let dependsOn = definition.spec.dependsOn
    guard dependsOn != fold.targets[id]?.definition.spec.dependsOn ?? [] else { return }
    let fault = DependencyRules.fault(
      of: id, dependsOn, entries: { fold.targets[$0]?.definition.spec.dependsOn },
      children: { fold.dependencies.children(of: $0) })
    guard let fault else { return }
    let hint = if case .unknown = fault { "targets of a fleet depend on targets of the fleet only" } else { fault.hint }
    throw Problem(fields: [FieldError(pointer: "/dependsOn", detail: "\(fault.problem); \(hint)")])
  }

  /// The next version of the first target that depends on another one, without it; nil when there is none.
  static func message(removing parent: String, from children: [String], _ fold: FleetFold) -> DefinitionMessage? {
    for child in children {
      guard var definition = fold.targets[child]?.definition else { continue }
      definition.spec.dependsOn = definition.spec.dependsOn.removing(parent)
      return DefinitionMessage(id: child, version: fold.version(of: child) + 1, definition: definition)
    }
    return nil
  }
}
