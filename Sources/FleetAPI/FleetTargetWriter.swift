internal import EmbeddedHTTPServer
internal import NetworkReachability
internal import ReachabilityFleet
internal import StatusAPI

/// Publishes the next version of a target, and waits until this replica has read which one won.
struct FleetTargetWriter {
  /// The targets of a fleet: their definitions and verdicts fit into the memory of a small replica.
  static let targetLimit = 10_000

  private let context: RequestContext
  private let fleet: FleetService
  private let id: String

  init(_ context: RequestContext, _ fleet: FleetService, _ id: String) {
    self.context = context
    self.id = id
    self.fleet = fleet
  }

  /// Defines the target; of two requests for one version the first in the stream wins.
  func write(_ definition: FleetTarget, isCreation: Bool) throws(Problem) -> HTTPReply {
    let fold = fleet.snapshot.fold
    let present = fold.targets[id]
    if isCreation, present != nil {
      throw Problem(.conflict, "the target \(id) exists; use PUT /fleet/targets/\(id) to change it")
    }
    try FleetEntityTag.enforcePreconditions(context.request, id, present)
    if let present, present.definition == definition {
      return .now(FleetTargetRoutes.answer(id, present, fleet.snapshot, context))
    }
    if present == nil, fold.targets.count >= Self.targetLimit {
      throw Problem(.quotaExceeded, "a fleet has at most \(Self.targetLimit) targets")
    }
    let version = fold.version(of: id) + 1
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
    try FleetEntityTag.enforcePreconditions(context.request, id, present)
    let (id, version) = (id, present.version + 1)
    return publish(DefinitionMessage(id: id, version: version, definition: nil)) { snapshot in
      guard snapshot.fold.deleted[id]?.version == version else { return nil }
      return HTTPResponse(status: 204, headers: ["Cache-Control": "no-store"])
    }
  }

  private func publish(
    _ message: DefinitionMessage, _ answer: @escaping @Sendable (FleetSnapshot) -> HTTPResponse?
  ) -> HTTPReply {
    let (context, id) = (context, id)
    return FleetPublication.reply(.definition(message), context, fleet) { snapshot in
      let lost = Problem(.preconditionFailed, "another change of the target \(id) came first; GET it and retry")
      return answer(snapshot) ?? context.answer(lost)
    }
  }
}
