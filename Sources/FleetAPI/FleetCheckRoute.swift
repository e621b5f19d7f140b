internal import EventStreams
internal import HTTPRouting
internal import JSONFormat
internal import Locks
internal import NetworkReachability
internal import ReachabilityFleet
internal import StatusAPI

/// `POST /fleet/checks`: a check of one target now, from several agents.
enum FleetCheckRoute {
  /// The agents that check at most.
  static let agentLimit = 32
  /// The time for the answer of an agent: longer than the longest default timeout of a check.
  static let timeLimit = Duration.seconds(10)
  /// The buffer of a response in lines: those of the most agents, at most 300 bytes each.
  private static let streamBytes = 16 * 1024

  static let check = FleetRoute(
    method: "POST", pattern: "/fleet/checks", scope: .check, mediaTypes: [.json, .ndjson],
    summary: "check a target of the fleet now, from several agents"
  ) { (context) throws(Problem) in
    let fleet = context.service.fleet
    let body = try RequestBody.json(context.request)
    if let other = body.members?.first(where: { $0.name != "target" && $0.name != "count" }) {
      let pointer = FieldError.pointerSegment(other.name)
      throw Problem(fields: [FieldError(pointer: pointer, detail: "unknown field; expected one of target, count")])
    }
    let snapshot = fleet.snapshot
    guard let id = body.text("target") else {
      throw Problem(fields: [FieldError(pointer: "/target", detail: "expected the id of a target of the fleet")])
    }
    guard let target = snapshot.fold.targets[id] else { throw Problem(missingFleetTarget: id) }
    let present = target.assigned.filter { snapshot.fold.nodes[$0]?.state == .present }
    let count = body["count"] == nil ? min(present.count, agentLimit) : body.count("count") ?? 0
    guard (1...agentLimit).contains(count) || body["count"] == nil else {
      throw Problem(
        fields: [FieldError(pointer: "/count", detail: "expected an integer from 1 to \(agentLimit)")])
    }
    guard !present.isEmpty else { throw Problem(.conflict, "no agent that is assigned to \(id) is present") }
    try context.service.quota.admit(min(count, present.count), context.routed)
    let agents = Array(FleetRendezvousHash.order(present, for: id).prefix(count))
    if context.media == .ndjson { return .now(lines(id, agents, fleet)) }
    return .later { promise in
      let results = Collector(agents.count) { documents in
        let sorted = documents.sorted { $0.agent < $1.agent }.map(\.document)
        promise.fulfil(context.document(.members(["target": .string(id), "results": .array(sorted)])))
      }
      request(id, agents, fleet) { results.add($0, $1) }
    }
  }

  private static func request(
    _ id: String, _ agents: [String], _ fleet: FleetService, _ receive: @escaping @Sendable (String, JSON) -> Void
  ) {
    for agent in agents {
      fleet.members.request(FleetWire.encode(.check(targets: [id])), on: .ask(agent), within: timeLimit) { result in
        receive(agent, document(agent, id, result))
      }
    }
  }

  /// Returns a response with one line per agent, in the order of their answers.
  private static func lines(_ id: String, _ agents: [String], _ fleet: FleetService) -> HTTPResponse {
    let log = EventLog(byteCapacity: streamBytes, growingTo: streamBytes, entryCapacity: agents.count)
    let cursor = log.end
    let count = Locked<UInt64>(0)
    request(id, agents, fleet) { _, document in
      // Under the lock, so that entries are appended in order.
      count.withLock { count in
        count += 1
        log.append(id: count, kind: 0, bytes: document.bytes + [0x0a])
      }
    }
    // A space is insignificant before a JSON text.
    let stream = EventStreamResponse(
      feeds: [.init(log: log, cursor: cursor)], heartbeat: .init(bytes: [UInt8(ascii: " ")]),
      endsAfter: UInt64(agents.count))
    return HTTPResponse(headers: RepresentationHeaders.headers(.ndjson), body: .stream(stream))
  }

  private static func document(
    _ agent: String, _ target: String, _ result: Result<[UInt8], FleetEngineError>
  ) -> JSON {
    var cell: FleetCellState?
    var missing = Reason.notChecked
    switch result {
    case .success(let payload):
      if case .results(let cells) = FleetWire.reply(payload) { cell = cells.first { $0.target == target }?.cell }
    case .failure(.timedOut), .failure(.noResponders): missing = .agentSilent
    case .failure: break
    }
    return .object([
      .init("agent", text: agent), .init("state", text: (cell?.state ?? .unknown).rawValue),
      .init("reason", .text(cell == nil ? missing.rawValue : cell?.reason?.rawValue)),
    ])
  }

  /// The answers of several agents, until all have arrived.
  private final class Collector: Sendable {
    private let documents = Locked<[(agent: String, document: JSON)]>([])
    private let count: Int
    private let complete: @Sendable ([(agent: String, document: JSON)]) -> Void

    init(_ count: Int, _ complete: @escaping @Sendable ([(agent: String, document: JSON)]) -> Void) {
      self.count = count
      self.complete = complete
    }

    func add(_ agent: String, _ document: JSON) {
      let all = documents.withLock { documents in
        documents.append((agent, document))
        return documents
      }
      if all.count == count { complete(all) }
    }
  }
}
