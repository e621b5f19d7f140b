internal import History
internal import Events
internal import EventStreams
internal import EmbeddedHTTPServer
internal import ReachabilityChecks
internal import TextSyntax

// What a stream selects.
extension EventRoutes {
  /// The maximum number of names that a stream selects by one parameter.
  private static let selectionLimit = 64
  /// Event types that `types` does not filter: every stream has the first three, and streams with hosts have `host`.
  private static let unfilteredTypes: Set<Substring> = ["snapshot", "gap", "bye", "host"]

  /// Returns the selection of log events: all registered targets, unless the query names some.
  static func selection(_ context: RequestContext) throws(Problem) -> EventLog.Selection {
    let kinds = try kinds(context)
    return EventLog.Selection(kinds: kinds, topics: try selected("target", context))
  }

  /// Returns the labels of the names, ids of targets or agents or others, that the query has in a parameter; or nil.
  package static func selected(
    _ parameter: String, _ context: RequestContext, areIDs: Bool = true
  ) throws(Problem) -> [UInt64]? {
    let names = Set(context.request.query.filter { $0.name == parameter }.map(\.value))
    guard !names.isEmpty else { return nil }
    if areIDs, let wrong = names.first(where: { !TargetSpec.isID($0) }) {
      throw Problem(invalidID: wrong, of: parameter)
    }
    guard names.count <= selectionLimit else {
      throw Problem(
        .badRequest,
        "a stream selects at most \(selectionLimit) \(parameter)s, got \(names.count); omit \(parameter) to receive all events"
      )
    }
    return names.map(EventLog.label)
  }

  private static func kinds(_ context: RequestContext) throws(Problem) -> UInt64 {
    guard let types = context.query["types"] else { return .max }
    var mask: UInt64 = 0
    for type in ListParameter.words(types) where !unfilteredTypes.contains(type) {
      guard let type = EventType(name: String(type)), EventType.published.contains(type) else {
        throw Problem(.badRequest, unknownType(String(type)))
      }
      mask |= type.mask
      if type == .status { mask |= EventHistory.initialMask }
    }
    return mask
  }

  private static func unknownType(_ type: String) -> String {
    let known = EventType.published.map(\.name)
    let suggestion = EditDistance.suggestion(for: type, among: known).map { " (\($0))" } ?? ""
    return "unknown event type \(String(type.prefix(80)).debugDescription)\(suggestion); "
      + "expected one of \(known.joined(separator: ", "))"
  }
}
