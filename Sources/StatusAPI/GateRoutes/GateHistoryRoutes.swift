internal import HTTPRouting
internal import History
internal import ReachabilityChecks

/// The history and the uptime of gates, from the same transitions as their events.
enum GateHistoryRoutes {
  static let history = NodeRoute(
    pattern: "/gates/{id}/history", parameters: HistoryListQuery.parameters, mediaTypes: [.json, .ndjson],
    summary: "the transitions of a gate, also of a removed one"
  ) { (context) throws(Problem) in
    let id = try context.gateID()
    let isPresent = context.service.schedule.gates.report(of: id) != nil
    return try HistoryRoutes.history(of: HistorySubject.gate(id), isKnown: isPresent, context, Problem(unknownGate: id))
  }

  static let uptime = NodeRoute(
    pattern: "/gates/{id}/uptime", parameters: ["window", "timeZone", "step"], mediaTypes: [.json],
    summary: "how long a gate was open, also a removed one"
  ) { (context) throws(Problem) in
    let id = try context.gateID()
    let isPresent = context.service.schedule.gates.report(of: id) != nil
    return try UptimeRoutes.uptime(
      of: HistorySubject.gate(id), id, isKnown: isPresent, context, Problem(unknownGate: id))
  }
}
