internal import HTTPRouting
internal import ReachabilityChecks
internal import ReachabilityFleet
internal import ReachabilityModel
internal import StatusAPI

/// Publishes the next version of a target, and waits until this replica has read which one won.
///
/// A change that another one of the same version has preceded is made again, from the state after that one: its
/// preconditions may not hold any longer, and without preconditions it is the later change (RFC 9110 §13.2).
struct FleetTargetWriter: Sendable {
  /// The targets of a fleet: their definitions and verdicts fit into the memory of a small replica.
  static let targetLimit = 10_000
  /// How often a change is published that others precede: more clients than that do not change one target at a time.
  private static let attempts = 16

  enum Change: Sendable {
    /// Define the target, or change it unless `isCreation`.
    case define(FleetTarget, isCreation: Bool)
    /// Delete the target; if others depend on it, only if `isForced`, after it was removed from them.
    case delete(isForced: Bool)
  }

  /// What follows from a change in some state.
  private enum Step {
    case answer(HTTPResponse)
    case publish(DefinitionMessage, isNew: Bool)
  }

  private let context: FleetRequest
  private let id: String

  init(_ context: FleetRequest, _ id: String) {
    self.context = context
    self.id = id
  }

  /// Makes a change; of two requests for one version the first in the stream wins.
  func make(_ change: Change) throws(Problem) -> HTTPReply {
    switch try step(change, context.service.fleet.snapshot) {
    case .answer(let response): return .now(response)
    case .publish(let message, let isNew):
      return .later { promise in
        publish(message, isNew: isNew, change, attempts: Self.attempts) { promise.fulfil($0) }
      }
    }
  }

  private func step(_ change: Change, _ snapshot: FleetSnapshot) throws(Problem) -> Step {
    let present = snapshot.fold.targets[id]
    let version = snapshot.fold.version(of: id) + 1
    switch change {
    case .delete(let isForced):
      guard present != nil else { throw Problem(missingFleetTarget: id) }
      try FleetTargetPrecondition.enforce(context.request, id, present)
      let children = snapshot.fold.dependencies.children(of: id).sorted()
      if !children.isEmpty, !isForced { throw Problem(.hasChildren(children), id) }
      if let message = FleetDependencyChange.message(removing: id, from: children, snapshot.fold) {
        return .publish(message, isNew: false)
      }
      return .publish(DefinitionMessage(id: id, version: version, definition: nil), isNew: false)
    case .define(let definition, let isCreation):
      if isCreation, present != nil {
        throw Problem(.conflict, "the target \(id) exists; use PUT /fleet/targets/\(id) to change it")
      }
      try FleetTargetPrecondition.enforce(context.request, id, present)
      if let present, present.definition == definition {
        return .answer(FleetTargetRoutes.answer(id, present, snapshot, context))
      }
      try FleetDependencyChange.validate(definition, of: id, snapshot.fold)
      if present == nil, snapshot.fold.targets.count >= Self.targetLimit {
        throw Problem(.quotaExceeded, "a fleet has at most \(Self.targetLimit) targets")
      }
      return .publish(DefinitionMessage(id: id, version: version, definition: definition), isNew: present == nil)
    }
  }

  private func publish(
    _ message: DefinitionMessage, isNew: Bool, _ change: Change, attempts: Int,
    _ complete: @escaping @Sendable (HTTPResponse) -> Void
  ) {
    FleetPublication.publish(.definition(message), context.service.fleet) { snapshot in
      guard let snapshot else { return complete(context.answer(FleetPublication.unavailable)) }
      // A target that depends on the one to delete was changed first; each such change is progress.
      let isOther = message.id != id
      if !isOther, let response = response(to: message, isNew: isNew, snapshot) { return complete(response) }
      guard attempts > 1 else {
        let problem = Problem(.conflict, "other changes of the target \(id) came first; GET it and retry")
        return complete(context.answer(problem))
      }
      do throws(Problem) {
        switch try step(change, snapshot) {
        case .answer(let response): complete(response)
        case .publish(let next, let isNew):
          let isProgress = isOther && !snapshot.fold.dependencies.children(of: id).contains(message.id)
          publish(next, isNew: isNew, change, attempts: isProgress ? attempts : attempts - 1, complete)
        }
      } catch {
        complete(context.answer(error))
      }
    }
  }

  /// The response to a change that this replica has read; nil if another one of its version came first.
  private func response(to message: DefinitionMessage, isNew: Bool, _ snapshot: FleetSnapshot) -> HTTPResponse? {
    guard let definition = message.definition else {
      guard snapshot.fold.deleted[id]?.version == message.version else { return nil }
      return HTTPResponse(status: 204, headers: ["Cache-Control": "no-store"])
    }
    guard let winner = snapshot.fold.targets[id], winner.version == message.version, winner.definition == definition
    else { return nil }
    return FleetTargetRoutes.answer(id, winner, snapshot, context, status: isNew ? 201 : 200)
  }
}

/// Changes of the entries of `dependsOn` of the fleet's targets.
enum FleetDependencyChange {
  /// Refuses entries that are faults among the targets of the fleet; those that a target has already stay.
  static func validate(_ definition: FleetTarget, of id: String, _ fold: FleetFold) throws(Problem) {
    let dependsOn = definition.spec.dependsOn
    guard dependsOn != fold.targets[id]?.definition.spec.dependsOn ?? [] else { return }
    let fault = DependencyRules.fault(
      of: id, dependsOn, entries: { fold.targets[$0]?.definition.spec.dependsOn },
      children: { fold.dependencies.children(of: $0) })
    guard let fault else { return }
    let hint = if case .unknown = fault { "targets of a fleet depend on targets of the fleet only" } else { fault.hint }
    throw Problem(fields: [FieldError(pointer: "/dependsOn", detail: "\(fault.problem); \(hint)")])
  }

  /// The next version of the first target that depends on another one, without it; nil when there is none.
  static func message(removing parent: String, from children: [String], _ fold: FleetFold) -> DefinitionMessage? {
    for child in children {
      guard var definition = fold.targets[child]?.definition else { continue }
      definition.spec.dependsOn = definition.spec.dependsOn.removing(parent)
      return DefinitionMessage(id: child, version: fold.version(of: child) + 1, definition: definition)
    }
    return nil
  }
}
