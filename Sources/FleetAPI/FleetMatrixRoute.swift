internal import HTTPRouting
internal import JSONFormat
internal import NetworkReachability
internal import ReachabilityFleet
internal import TextSyntax

/// `GET /fleet/matrix`: what each agent says about each target and each other agent.
enum FleetMatrixRoute {
  /// The cells of a page.
  static let defaultLimit = 1000
  static let limitMaximum = 10_000

  static let matrix = FleetRoute(
    pattern: "/fleet/matrix", parameters: ["of", "from", "to", "zone", "state", "group", "limit", "cursor"],
    mediaTypes: [.json, .csv], isCompressible: true, queueing: .always,
    summary: "what each agent says about each target and other agent"
  ) { (context) throws(Problem) in
    let fleet = context.service.fleet
    let snapshot = fleet.snapshot
    let query = try FleetMatrixQuery(context)
    let limit = try ListLimit.parse(context.query["limit"], defaultLimit, limitMaximum)
    if query.isGrouped { return .now(groups(snapshot, query, after: try cursor(context, parts: 3), limit, context)) }
    let (cells, next) = page(snapshot, query, after: try cursor(context, parts: 2), limit)
    if context.media == .csv {
      let lines = cells.map { line($0, snapshot) }
      return .now(csv("target,agent,zone,state,reason,since", lines, next, context))
    }
    let documents = cells.map { FleetRepresentation.cell($0.target, $0.agent, snapshot.fold.nodes[$0.agent]) }
    return .now(context.document(.members(["cells": .array(documents), "next": .text(next)])))
  }

  /// The parts of the parameter `cursor`; nil without it.
  private static func cursor(_ context: FleetRequest, parts count: Int) throws(Problem) -> [String]? {
    guard let text = context.query["cursor"] else { return nil }
    let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == count else {
      throw Problem(
        .badRequest, "invalid cursor \(text.prefix(80).debugDescription); use the member next of the page before")
    }
    return parts
  }

  private struct Cell {
    var target: String
    var agent: String

    /// The position in the order of all cells; `:` is in no id.
    var key: String { "\(target):\(agent)" }
  }

  private static func page(
    _ snapshot: FleetSnapshot, _ query: FleetMatrixQuery, after cursor: [String]?, _ limit: Int
  ) -> (cells: [Cell], next: String?) {
    let last = cursor.map { Cell(target: $0[0], agent: $0[1]) }
    // Only the targets of one page are sorted with their agents: a fleet may have a million cells.
    var agents: [String: [String]] = [:]
    for (id, node) in snapshot.agents where query.includes(id, node) {
      for name in query.target.map({ node.cells[$0] == nil ? [] : [$0] }) ?? Array(node.cells.keys) {
        if let last, name < last.target { continue }
        guard query.subjects?.includes(name) ?? true else { continue }
        guard query.state == nil || query.state == node.vote(name)?.state else { continue }
        agents[name, default: []].append(id)
      }
    }
    var cells: [Cell] = []
    for target in agents.keys.sorted() {
      for agent in agents[target] ?? [] {
        if let last, (target, agent) <= (last.target, last.agent) { continue }
        if cells.count == limit { return (cells, cells.last?.key) }
        cells.append(Cell(target: target, agent: agent))
      }
    }
    return (cells, nil)
  }

  private static func groups(
    _ snapshot: FleetSnapshot, _ query: FleetMatrixQuery, after cursor: [String]?, _ limit: Int,
    _ context: FleetRequest
  ) -> HTTPResponse {
    let all = FleetZoneMatrix(snapshot, subjects: query.subjects, target: query.target, where: query.includes).groups
    // The last group of the page before may be gone.
    let rest = cursor.map { cursor in all.drop { !$0.follows(cursor) } } ?? all[...]
    let page = rest.prefix(limit)
    let next = rest.count > limit ? page.last?.key : nil
    if context.media == .csv {
      let states = TargetState.allCases.map(\.rawValue).joined(separator: ",")
      let lines = page.map { group in
        ([group.subjects.rawValue, field(group.from), field(group.to)] + group.counts.map { "\($0.count)" })
          .joined(separator: ",")
      }
      return csv("of,from,to,\(states)", lines, next, context)
    }
    return context.document(.members(["groups": .array(page.map(\.document)), "next": .text(next)]))
  }

  // MARK: - Comma-separated values (RFC 4180)

  private static func line(_ cell: Cell, _ snapshot: FleetSnapshot) -> String {
    let node = snapshot.fold.nodes[cell.agent]
    let vote = node?.vote(cell.target)
    return [
      cell.target, cell.agent, field(node?.hello?.zone ?? ""), (vote?.state ?? .unknown).rawValue,
      vote?.reason?.rawValue ?? "", vote?.since.description ?? "",
    ].joined(separator: ",")
  }

  /// A zone without the characters that would need quotes; ids, states and reasons have none.
  private static func field(_ zone: String) -> String { zone.filter { $0 != "," && $0 != "\"" && !$0.isNewline } }

  private static func csv(
    _ header: String, _ lines: [String], _ next: String?, _ context: FleetRequest
  ) -> HTTPResponse {
    let text = ([header] + lines).joined(separator: "\r\n") + "\r\n"
    var headers = RepresentationHeaders.headers(.csv)
    if let next {
      // The next page has the same selection.
      var fields = context.request.query.filter { $0.name != "cursor" }.map { ($0.name, $0.value) }
      fields.append(("cursor", next))
      let query = fields.map { "\($0.0)=\(PercentEncoding.encoded($0.1))" }.joined(separator: "&")
      headers["Link"] = "</fleet/matrix?\(query)>; rel=\"next\""
    }
    return HTTPResponse(headers: headers, body: .bytes(Array(text.utf8)))
  }
}

struct FleetMatrixQuery {
  let subjects: FleetMatrixSubjects?
  let agent: String?
  let target: String?
  let zone: String?
  let state: TargetState?
  let isGrouped: Bool

  init(_ context: FleetRequest) throws(Problem) {
    subjects = try context.routed.value("of")
    state = try context.routed.value("state")
    agent = context.query["from"]
    target = context.query["to"]
    zone = context.query["zone"]
    isGrouped = try context.routed.value("group", of: Grouping.self) != nil
    guard !isGrouped || state == nil else {
      throw Problem(.badRequest, "state does not apply to group=zone, whose groups have the number of each state")
    }
  }

  func includes(_ id: String, _ node: FleetFoldedNode) -> Bool {
    (agent == nil || agent == id) && (zone == nil || zone == node.hello?.zone)
  }

  private enum Grouping: String, CaseIterable { case zone }
}
