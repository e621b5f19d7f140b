internal import Events
internal import EventStreams
internal import HTTPRouting
internal import JSONFormat
internal import NetworkReachability
internal import ReachabilityFleet

/// `GET /fleet/events`: every event of the fleet, the same at every replica.
enum FleetEventRoutes {
  /// The time that a replica may need to read the message of an id that another replica has sent already.
  static let patience = Duration.seconds(5)
  /// Only a replica that has read the stream can say that events are missing; another one may have them.
  private static let isBehind = Problem(
    .engineUnavailable, "this replica has not read the stream up to this id; retry, or ask another replica",
    headers: ["Retry-After": "1"])

  static let events = FleetRoute(
    pattern: "/fleet/events", parameters: ["types", "target", "agent", "zone", "lastEventId"],
    repeatable: ["target", "agent", "zone"],
    mediaTypes: [.eventStream],
    summary: "every event of the fleet as Server-Sent Events, starting with the current counts"
  ) { (context) throws(Problem) in
    let fleet = context.service.fleet
    let selection = try selection(context)
    let known = context.routed.lastEventID
    let id = known.flatMap(FleetEventID.init)
    var start = fleet.subscribe(after: id)
    if known != nil, id == nil { start.resume = .gap(.otherHistory) }
    guard start.resume == .wait else { return .now(stream(fleet, known, start, selection)) }
    return .later { promise in
      let position = FleetEngineStreamPosition(sequence: id?.sequence ?? 0, created: fleet.snapshot.fold.created)
      fleet.wait(for: position, within: patience) { _ in
        let start = fleet.subscribe(after: id)
        guard start.resume != .wait || start.snapshot.isComplete else {
          return promise.fulfil(context.answer(isBehind))
        }
        promise.fulfil(stream(fleet, known, start, selection))
      }
    }
  }

  /// The stream from a position, which belongs to the decision about the id.
  private static func stream(
    _ fleet: FleetService, _ known: String?, _ start: FleetService.Subscription, _ selection: EventLog.Selection
  ) -> HTTPResponse {
    let preamble: [UInt8]
    switch (known, start.resume) {
    case (.some, .replay): preamble = SSEFrame.comment + SSEFrame.retry
    case (let known?, let other):
      var reason = FleetResume.Reason.otherHistory
      if case .gap(let found) = other { reason = found }
      let gap = JSON.object([.init("from", text: known), .init("reason", text: reason.rawValue)])
      preamble = SSEFrame.retry + SSEFrame.event("gap", gap) + opening(fleet, start.snapshot)
    case (nil, _): preamble = SSEFrame.retry + opening(fleet, start.snapshot)
    }
    let feed = EventStreamResponse.Feed(log: fleet.log, cursor: start.cursor, selection: selection)
    return HTTPResponse(
      headers: RepresentationHeaders.ofEventStream,
      body: .stream(
        EventStreamResponse(
          feeds: [feed], preamble: preamble, heartbeat: EventStreamResponse.Heartbeat(bytes: SSEFrame.comment))))
  }

  /// The event `snapshot`, with the id of the moment.
  private static func opening(_ fleet: FleetService, _ snapshot: FleetSnapshot) -> [UInt8] {
    Array("id: \(snapshot.last)\n".utf8)
      + SSEFrame.event("snapshot", FleetRepresentation.overview(snapshot, replica: fleet.id))
  }

  private static let types = FleetEventRepresentation.Kind.allCases.map { (name: $0.name, mask: $0.mask) }

  private static func selection(_ context: FleetRequest) throws(Problem) -> EventLog.Selection {
    func labels(_ parameter: String, isValid: (String) -> Bool = TargetSpec.isID) throws(Problem) -> [UInt64]? {
      try EventStreamParameters.names(parameter, context.routed, isValid: isValid)?.map(EventLog.label)
    }
    let kinds = try EventStreamParameters.kinds(context.routed, among: types)
    // A client must not miss that events are missing.
    return EventLog.Selection(
      kinds: kinds.map { $0 | FleetEventRepresentation.Kind.gap.mask } ?? .max, topics: try labels("target"),
      sources: try labels("agent"), groups: try labels("zone") { _ in true })
  }
}
