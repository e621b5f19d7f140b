internal import HTTPRouting
public import ReachabilityChecks

extension QuotaExcess: CustomStringConvertible {
  /// The limit, and the setting that raises it.
  public var description: String {
    switch self {
    case .targets(let limit, let scope):
      "at most \(limit) targets \(scope.holder("targets")); remove some, or raise \(scope.setting("targets"))"
    case .interval(let minimum, let scope):
      "an interval of at least \(DurationFormat.shortest(minimum)) \(scope.holder("minimumInterval"));"
        + " use a longer one, or lower \(scope.setting("minimumInterval"))"
    case .checksPerSecond(let limit, let scope):
      "at most \(limit) checks a second, scheduled ones included, \(scope.holder("checksPerSecond"));"
        + " use longer intervals, or raise \(scope.setting("checksPerSecond"))"
    case .changesPerSecond(let limit, let scope):
      "at most \(limit) changes and removals of targets a second \(scope.changes), and \(ScheduleLimits.changeBurst) at once"
        + " after a pause; try again later, or raise \(scope.setting("changesPerSecond"))"
    case .memory(let budget):
      "targets may use \(budget.targets >> 10) KiB of memory under the memory limit of \(budget.limit >> 20) MiB;"
        + " raise the limit of the container or service (memory.max of its cgroup),"
        + " or use fewer targets, longer intervals or fewer labels"
    }
  }
}

extension QuotaExcess.Scope {
  fileprivate func holder(_ name: String) -> String {
    switch self {
    case .all: "are allowed in all"
    case .token(let id):
      name == "minimumInterval" ? "is needed with the token \(id)" : "are allowed with the token \(id)"
    }
  }

  fileprivate var changes: String {
    switch self {
    case .all: "are allowed with each token, and without one"
    case .token(let id): "are allowed with the token \(id)"
    }
  }

  fileprivate func setting(_ name: String) -> String {
    switch self {
    case .all: "limits.\(name)"
    case .token: "limits.\(name) of the token"
    }
  }
}

extension Problem {
  /// Creates the problem for an exceeded limit of counts, intervals, rates or memory.
  ///
  /// 403 (RFC 9110 §15.5.4): the request is valid, and repeating it does not help. Not 409, because the state of the
  /// target does not conflict, and not 507, because clients and proxies retry it.
  init(_ excess: QuotaExcess) { self.init(.quotaExceeded, "\(excess)") }
}
