internal import Logging
internal import ReachabilityFleet

extension FleetGateway {
  /// Asks whether another process with the id is running; nil if there is none.
  ///
  /// Only silence means that. Without the question, or with another answer, the agent has to try again.
  func findOther(
    _ agent: String, _ instance: UInt64, _ complete: @escaping @Sendable (GatewayAnswer?) -> Void
  ) {
    engine.request(FleetWire.encode(AgentRequest.ping), on: .ask(agent), within: GatewayLimits.pingTimeout) {
      [logger] result in
      switch result {
      case .failure(.timedOut), .failure(.noResponders): complete(nil)
      case .failure(let error): complete(.failed("\(error)"))
      case .success(let reply):
        guard case .instance(let other)? = FleetWire.reply(reply) else {
          return complete(.failed("a process with the id gave another answer"))
        }
        guard other != instance else { return complete(nil) }
        logger.warning("two processes have the id of one agent", metadata: ["agent": "\(agent)"])
        complete(.duplicate)
      }
    }
  }
}
