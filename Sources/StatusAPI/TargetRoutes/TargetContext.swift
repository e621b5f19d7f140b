internal import HTTPRouting
internal import ReachabilityChecks

/// The objects that the routes of registered targets and of checks use.
struct TargetContext: Sendable {
  var schedule: CheckSchedule
  var policy: @Sendable () -> ContactPolicy
  /// Returns the modules that a client may name besides the built-in ones; a reload may change them.
  var configuredModules: @Sendable () -> [CheckModule]

  var modules: [CheckModule] { configuredModules() }

  /// The modules that a client may name, with the built-in ones.
  var modulesByName: [String: CheckModule] {
    CheckPlan.builtInModules.merging(configuredModules().map { ($0.name, $0) }) { $1 }
  }

  /// Returns the modules that a target may name, including its current module, which a reload may have removed.
  func modules(for id: String?) -> [CheckModule] {
    let known = configuredModules()
    guard let own = id.flatMap({ schedule.report(of: $0) })?.definition.module,
      !(known + CheckModule.builtIn).contains(where: { $0.name == own.name })
    else { return known }
    return known + [own]
  }

  /// Returns the reason why a client may not register a target: its module, or the policy for its address.
  ///
  /// The addresses of a name are evaluated at each check.
  ///
  /// - Parameters:
  ///   - definition: the target.
  ///   - policy: the current policy; all targets of a batch are evaluated with the same one.
  /// - Returns: the problem; nil for a target that may be contacted.
  func denial(_ definition: TargetDefinition, _ policy: ContactPolicy) -> Problem? {
    var module = definition.module
    module.access = configuredModules().access(to: module)
    if CheckRequest(definition.target, module: module, policy: policy).moduleVerdict == .denied {
      return Problem(CheckPlan.InvalidParameters(deniedModule: module.name))
    }
    guard definition.target.scheme != .route, case .address(let address) = definition.target.host.remote,
      !policy.allows(address, port: definition.target.port)
    else { return nil }
    return .policyDenied
  }
}
