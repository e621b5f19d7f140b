public import ReachabilityModel

/// The outcome of one check: the prober's result, and the path of packets to the target.
public struct CheckOutcome: Hashable, Sendable {
  /// What was checked.
  public var request: CheckRequest
  /// The result; `unreachable` when this machine has no route to the target, whatever the prober found.
  public var result: CheckResult
  /// The path to the checked address at the end of the check; nil without an address, or when the lookup failed.
  public var path: NetworkPath?

  /// The target that was contacted last: that of a redirect, if one was followed.
  var server: CheckTarget { result.evidence.redirectTarget ?? request.target }

  /// An outcome from its parts.
  public init(request: CheckRequest, result: CheckResult, path: NetworkPath? = nil) {
    self.request = request
    self.result = result
    self.path = path
  }
}
