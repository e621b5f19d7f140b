internal import HTTPRouting
internal import JSONFormat
internal import ReachabilityFleet

/// `/fleet/agents`: who checks and reports.
enum FleetAgentRoutes {
  static let all = [list, get, delete]

  static let list = FleetRoute(
    pattern: "/fleet/agents", parameters: ["state", "zone"], mediaTypes: [.json], isCompressible: true,
    queueing: .always, summary: "the agents of the fleet"
  ) { (context) throws(Problem) in
    let fleet = context.service.fleet
    let snapshot = fleet.snapshot
    var state: FleetNodeState?
    if let text = context.query["state"] {
      state = FleetNodeState(rawValue: text)
      guard state != nil, state != .left else {
        throw Problem(
          .badRequest, "unknown state \(text.prefix(80).debugDescription); expected one of present, lost")
      }
    }
    let zone = context.query["zone"]
    let reached = snapshot.meshDecisions
    let agents = snapshot.agents.filter { agent in
      (state == nil || agent.node.state == state) && (zone == nil || agent.node.hello?.zone == zone)
    }
    let documents = agents.map { FleetRepresentation.agent($0.id, $0.node, snapshot, reached[$0.id]) }
    return .now(context.document(.members(["agents": .array(documents)])))
  }

  static let get = FleetRoute(
    pattern: "/fleet/agents/{id}", mediaTypes: [.json], summary: "one agent of the fleet"
  ) { (context) throws(Problem) in
    let fleet = context.service.fleet
    let snapshot = fleet.snapshot
    let (id, node) = try agent(context, snapshot)
    let reached = snapshot.meshDecisions[id]
    return .now(context.document(FleetRepresentation.agent(id, node, snapshot, reached)))
  }

  static let delete = FleetRoute(
    method: "DELETE", pattern: "/fleet/agents/{id}", scope: .admin, mediaTypes: [.json],
    summary: "forget a lost agent, so that others take its place"
  ) { (context) throws(Problem) in
    let fleet = context.service.fleet
    let (id, node) = try agent(context, fleet.snapshot)
    guard node.state == .lost else {
      throw Problem(.conflict, "the agent \(id) is present; stop its process, which ends its membership")
    }
    let message = FleetMessage.node(NodeMessage(id: id, .bye))
    return FleetPublication.reply(message, context) { snapshot in
      // An agent that came back meanwhile stays.
      guard snapshot.fold.nodes[id]?.isAgent != true else {
        return context.answer(Problem(.conflict, "the agent \(id) is present again"))
      }
      return HTTPResponse(status: 204, headers: ["Cache-Control": "no-store"])
    }
  }

  private static func agent(
    _ context: FleetRequest, _ snapshot: FleetSnapshot
  ) throws(Problem) -> (id: String, node: FleetFoldedNode) {
    let id = context.path["id"] ?? ""
    guard let node = snapshot.fold.nodes[id], node.isAgent else {
      throw Problem(
        .notFound, "no agent has the id \(id.prefix(80).debugDescription); GET /fleet/agents lists all agents")
    }
    return (id, node)
  }
}
