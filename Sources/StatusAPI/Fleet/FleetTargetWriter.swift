internal import EmbeddedHTTPServer
internal import NetworkReachability
internal import ReachabilityFleet

/// Publishes the next version of a target, and waits until this replica has read which one won.
struct FleetTargetWriter {
  /// The time for the engine and the own fold.
  static let timeLimit = Duration.seconds(5)
  /// The targets of a fleet: their definitions and verdicts fit into the memory of a small replica.
  static let targetLimit = 10_000

  private let context: RequestContext
  private let fleet: FleetService
  private let id: String

  init(_ context: RequestContext, _ id: String) throws(Problem) {
    self.context = context
    self.id = id
    fleet = try context.fleet()
  }

  /// Defines the target; of two requests for one version the first in the stream wins.
  func write(_ definition: FleetTarget, isCreation: Bool) throws(Problem) -> HTTPReply {
    let fold = fleet.snapshot.fold
    let present = fold.targets[id]
    if isCreation, present != nil {
      throw Problem(.conflict, "the target \(id) exists; use PUT /fleet/targets/\(id) to change it")
    }
    try enforcePreconditions(present)
    if let present, present.definition == definition {
      return .now(FleetTargetRoutes.answer(id, present, fleet.snapshot, context))
    }
    if present == nil, fold.targets.count >= Self.targetLimit {
      throw Problem(.quotaExceeded, "a fleet has at most \(Self.targetLimit) targets")
    }
    let version = (present?.version ?? fold.deleted[id] ?? 0) + 1
    let (context, id) = (context, id)
    return publish(DefinitionMessage(id: id, version: version, definition: definition)) { snapshot in
      guard let winner = snapshot.fold.targets[id], winner.version == version, winner.definition == definition else {
        return nil
      }
      return FleetTargetRoutes.answer(id, winner, snapshot, context, status: present == nil ? 201 : 200)
    }
  }

  /// Deletes the target.
  func delete() throws(Problem) -> HTTPReply {
    guard let present = fleet.snapshot.fold.targets[id] else { throw Problem(missingFleetTarget: id) }
    try enforcePreconditions(present)
    let (id, version) = (id, present.version + 1)
    return publish(DefinitionMessage(id: id, version: version, definition: nil)) { snapshot in
      guard snapshot.fold.deleted[id] == version else { return nil }
      return HTTPResponse(status: 204, headers: ["Cache-Control": "no-store"])
    }
  }

  private func publish(
    _ message: DefinitionMessage, _ answer: @escaping @Sendable (FleetSnapshot) -> HTTPResponse?
  ) -> HTTPReply {
    let (context, fleet, id) = (context, fleet, id)
    return .later { promise in
      let created = fleet.snapshot.fold.created
      fleet.engine.publish(
        FleetWire.encode(.definition(message)), on: .target(id), expecting: nil
      ) { result in
        guard case .success(let sequence) = result else {
          return promise.fulfil(context.answer(Self.unavailable))
        }
        let position = StreamPosition(sequence: sequence, created: created)
        fleet.wait(for: position, within: Self.timeLimit) { isFolded in
          guard isFolded else { return promise.fulfil(context.answer(Self.unavailable)) }
          let lost = Problem(
            .preconditionFailed, "another change of the target \(id) came first; GET it and retry")
          promise.fulfil(answer(fleet.snapshot) ?? context.answer(lost))
        }
      }
    }
  }

  static let unavailable = Problem(
    .engineUnavailable, "the engine of the fleet did not confirm the request in time; GET the resource, then retry",
    headers: ["Retry-After": "5"])

  /// Enforces `If-Match` and `If-None-Match`; the tag is the version.
  private func enforcePreconditions(_ present: FoldedTarget?) throws(Problem) {
    let tag = present.map { "\"\($0.version)\"" }
    func tags(_ list: String) -> [String] {
      list.split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" } }
    }
    let headers = context.request.headers
    let matches = headers["If-Match"].map(tags).map { list in
      tag.map { list == ["*"] || list.contains($0) } ?? false
    }
    let excludes = headers["If-None-Match"].map(tags).map { list in
      tag.map { tag in list.contains("*") || list.contains { $0 == tag || $0 == "W/\(tag)" } } ?? false
    }
    guard matches ?? true, !(excludes ?? false) else {
      throw Problem(
        .preconditionFailed, "the target \(id) does not match If-Match or If-None-Match; GET it and retry")
    }
  }
}
