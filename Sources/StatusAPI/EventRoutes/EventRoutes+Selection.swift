internal import Events
internal import EventStreams
internal import HTTPRouting
internal import ReachabilityChecks

// What a stream selects.
extension EventRoutes {
  private static let types = EventType.published.map { type in
    (name: type.name, mask: type == .status ? type.mask | EventHistory.initialMask : type.mask)
  }

  /// Returns the selection of log events: all registered targets, unless the query names some.
  static func selection(_ context: RequestContext) throws(Problem) -> EventLog.Selection {
    // Streams with hosts have `host`.
    let kinds = try EventStreamParameters.kinds(context.routed, among: types, always: "host")
    let targets = try EventStreamParameters.names("target", context.routed, isValid: TargetSpec.isID)
    return EventLog.Selection(kinds: kinds ?? .max, topics: targets?.map(EventLog.label))
  }
}
