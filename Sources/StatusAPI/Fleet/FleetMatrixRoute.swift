internal import EmbeddedHTTPServer
internal import JSONFormat
internal import NetworkReachability
internal import ReachabilityFleet

/// `GET /fleet/matrix`: what each agent says about each target.
enum FleetMatrixRoute {
  /// The cells of a page.
  static let defaultLimit = 1000
  static let limitMaximum = 10_000

  static let matrix = Route(
    pattern: "/fleet/matrix", parameters: ["from", "to", "state", "limit", "cursor"], mediaTypes: [.json, .csv],
    isCompressible: true, summary: "what each agent says about each target"
  ) { (context) throws(Problem) in
    let snapshot = try context.fleet().snapshot
    let limit = try ListLimit.parse(context.query["limit"], defaultLimit, limitMaximum)
    var state: TargetState?
    if let text = context.query["state"] {
      state = TargetState(rawValue: text)
      guard state != nil else {
        let known = TargetState.allCases.map(\.rawValue).joined(separator: ", ")
        throw Problem(
          .badRequest, "unknown state \(text.prefix(80).debugDescription); expected one of \(known)")
      }
    }
    let (cells, next) = page(
      snapshot, from: context.query["from"], to: context.query["to"], state, after: context.query["cursor"], limit)
    if context.media == .csv { return .now(csv(cells, next, snapshot)) }
    let documents = cells.map { FleetRepresentation.cell($0.target, $0.agent, snapshot.fold.nodes[$0.agent]) }
    return .now(context.document(.members(["cells": .array(documents), "next": .text(next)])))
  }

  private struct Cell {
    var target: String
    var agent: String

    /// The position in the order of all cells; `:` is in no id.
    var key: String { "\(target):\(agent)" }
  }

  private static func page(
    _ snapshot: FleetSnapshot, from agent: String?, to target: String?, _ state: TargetState?, after cursor: String?,
    _ limit: Int
  ) -> (cells: ArraySlice<Cell>, next: String?) {
    var cells: [Cell] = []
    for (id, node) in snapshot.agents where agent == nil || agent == id {
      for name in target.map({ [$0] }) ?? Array(node.cells.keys) {
        guard let cell = node.vote(name), state == nil || state == cell.state else { continue }
        cells.append(Cell(target: name, agent: id))
      }
    }
    cells.sort { ($0.target, $0.agent) < ($1.target, $1.agent) }
    let parts = cursor?.split(separator: ":", maxSplits: 1).map(String.init) ?? []
    let rest = parts.count == 2 ? cells.drop { ($0.target, $0.agent) <= (parts[0], parts[1]) } : cells[...]
    return (rest.prefix(limit), rest.count > limit ? rest.prefix(limit).last?.key : nil)
  }

  /// Comma-separated values (RFC 4180); no field needs quotes, because ids, states and reasons have no such character.
  private static func csv(_ cells: ArraySlice<Cell>, _ next: String?, _ snapshot: FleetSnapshot) -> HTTPResponse {
    var text = "target,agent,zone,state,reason,since\r\n"
    for cell in cells {
      let node = snapshot.fold.nodes[cell.agent]
      let vote = node?.vote(cell.target)
      let zone = (node?.hello?.zone ?? "").filter { $0 != "," && $0 != "\"" && !$0.isNewline }
      text += "\(cell.target),\(cell.agent),\(zone),\((vote?.state ?? .unknown).rawValue),"
      text += "\(vote?.reason?.rawValue ?? ""),\(vote?.since.description ?? "")\r\n"
    }
    var headers = RepresentationHeaders.headers(.csv)
    if let next { headers["Link"] = "</fleet/matrix?cursor=\(next)>; rel=\"next\"" }
    return HTTPResponse(headers: headers, body: .bytes(Array(text.utf8)))
  }
}
