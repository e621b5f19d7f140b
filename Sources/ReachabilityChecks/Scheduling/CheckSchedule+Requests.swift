internal import ReachabilityModel

// The request of a check, and the outcome without a further lookup.
extension CheckSchedule {
  func request(_ start: CheckStart, _ policy: ContactPolicy?) -> CheckRequest {
    let definition = start.definition
    var module = definition.module
    if start.origin != .configuration { module.access = configuration.moduleAccess(module) }
    return CheckRequest(definition.target, module: module, timeout: definition.timeout, policy: policy)
  }

  func publishedOutcome(_ start: CheckStart, _ result: CheckResult) -> CheckOutcome {
    let path = monitor.verdict(of: start.definition.target.routeTarget)?.path
    return CheckOutcome(request: request(start, nil), result: result, path: path)
  }
}
