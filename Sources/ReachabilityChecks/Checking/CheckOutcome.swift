public import ReachabilityModel

/// One check as it is told: what the prober found, and the way that packets to the target take.
public struct CheckOutcome: Hashable, Sendable {
  /// What was to be done.
  public var request: ProbeRequest
  /// What came of it; `unreachable` when our own way to the target is missing, whatever the prober saw.
  public var result: ProbeResult
  /// The way to the address that was asked, when the check ended; nil when there was no address, or the kernel could not
  /// be asked.
  public var path: NetworkPath?

  /// An outcome from its parts.
  public init(request: ProbeRequest, result: ProbeResult, path: NetworkPath? = nil) {
    self.request = request
    self.result = result
    self.path = path
  }
}
