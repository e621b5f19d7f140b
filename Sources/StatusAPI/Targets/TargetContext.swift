internal import ReachabilityChecks

/// What the routes of registered targets work with.
struct TargetContext: Sendable {
  var schedule: CheckSchedule
  /// Whom callers may contact, as of now.
  var policy: @Sendable () -> ContactPolicy
  /// The modules that a caller may name besides the built-in ones; a reload may change them.
  var configuredModules: @Sendable () -> [CheckModule]

  var modules: [CheckModule] { configuredModules() }

  /// The modules that a definition of a target may name: also the one that it has, which a reload may have removed.
  func modules(for id: String?) -> [CheckModule] {
    let known = configuredModules()
    guard let own = id.flatMap({ schedule.report(of: $0) })?.definition.module,
      !(known + CheckModule.builtIn).contains(where: { $0.name == own.name })
    else { return known }
    return known + [own]
  }

  /// Why a caller may not register a target: its module, or the policy by its address.
  ///
  /// A name's addresses are judged at each check.
  ///
  /// - Parameters:
  ///   - definition: the target.
  ///   - policy: as of now; of many targets each is held to the same.
  /// - Returns: what to answer; nil for a target that may be contacted.
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
