internal import NetworkReachability
public import ReachabilityModel

extension WebhookDispatcher {
  /// Replaces the webhooks that this process sends, of those that several processes share; for the others it begins no
  /// request, and ends the one in progress in order.
  ///
  /// - Parameters:
  ///   - positions: the webhooks that it sends, with the positions of those that it begins to send; nil for a new one. Those
  ///     that it sends already continue.
  ///   - epoch: the epoch of the events; with another one, all begin at these positions.
  ///   - end: the number of the last visible event.
  public func own(_ positions: [String: WebhookPosition?], epoch: String, end: UInt64) {
    take(.owned(positions, epoch: epoch, end: end))
  }

  /// The settings of a dispatcher.
  public struct Configuration: Sendable {
    /// The name of this machine, for the attribute `source`.
    public var machine: String
    /// The addresses that may not be contacted: its denied blocks and this service's own ports.
    public var policy: @Sendable () -> ContactPolicy

    /// Creates settings.
    public init(machine: String, policy: @escaping @Sendable () -> ContactPolicy) {
      self.machine = machine
      self.policy = policy
    }
  }

  /// The subscription to the routes of the receivers.
  struct Watch {
    var subscription: ReachabilityMonitor.Subscription?
    var hosts: [ReachabilityTarget] = []
    var hasStopped = false
    /// When the stored positions are read again; nil when they are read, or a read is in progress.
    var loadAgain: Duration?
  }

  /// An input from another thread.
  enum Input: Sendable {
    case configure([WebhookDefinition])
    case loaded([String: WebhookPosition]?)
    case owned([String: WebhookPosition?], epoch: String, end: UInt64)
    case available(UInt64)
    case route(HostVerdict)
    case batch(WebhookBatch, id: String, number: Int)
    case finished(CheckResult, id: String, number: Int)
    case command(WebhookCommand, id: String, @Sendable (WebhookCommandResult) -> Void)
    case message(WebhookMessage?, id: String, @Sendable (WebhookCommandResult) -> Void)
  }
}
