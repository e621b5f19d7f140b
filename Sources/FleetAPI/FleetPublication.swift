internal import HTTPRouting
internal import ReachabilityFleet

/// Changes of the fleet by clients: a message is published, and the response sent when this replica has read it.
enum FleetPublication {
  /// The time for the engine and the own fold.
  static let timeLimit = Duration.seconds(5)

  static func reply(
    _ message: FleetMessage, _ context: FleetRequest, _ answer: @escaping @Sendable (FleetSnapshot) -> HTTPResponse
  ) -> HTTPReply {
    .later { promise in
      publish(message, context.service.fleet) { result in
        promise.fulfil(result.map(answer) ?? context.answer(unavailable))
      }
    }
  }

  /// Publishes a message and calls a closure with the state after it; with nil if it is not known whether it is stored.
  static func publish(
    _ message: FleetMessage, _ fleet: FleetService, _ complete: @escaping @Sendable (FleetSnapshot?) -> Void
  ) {
    let created = fleet.snapshot.fold.created
    fleet.publish(message, expecting: nil) { result in
      guard case .success(let sequence) = result else { return complete(nil) }
      let position = FleetEngineStreamPosition(sequence: sequence, created: created)
      fleet.wait(for: position, within: timeLimit) { isFolded in complete(isFolded ? fleet.snapshot : nil) }
    }
  }

  static let unavailable = Problem(
    .engineUnavailable, "the engine of the fleet did not confirm the request in time; GET the resource, then retry",
    headers: ["Retry-After": "5"])
}
