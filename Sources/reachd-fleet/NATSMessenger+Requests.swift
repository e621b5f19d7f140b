internal import Dispatch
internal import Locks
internal import NATSClient
internal import ReachabilityFleet

extension NATSMessenger {
  func request(
    _ payload: [UInt8], on subject: FleetSubject, within timeLimit: Duration,
    completion: @escaping @Sendable (Result<[UInt8], FleetEngineError>) -> Void
  ) {
    guard state.withLock({ $0.places.take(subject) }) else {
      return completion(.failure(.failed("too many requests wait for replies")))
    }
    requests.async { [self] in
      let result = Result { () throws(NATSError) in try perform(payload, subject, timeLimit) }
      state.withLock { $0.places.release(subject) }
      completion(result.mapError(FleetEngineError.init))
    }
  }

  private func perform(
    _ payload: [UInt8], _ subject: FleetSubject, _ timeLimit: Duration
  ) throws(NATSError) -> [UInt8] {
    guard let connection else { throw NATSError("request \(subject)", .disconnected, "there is no connection") }
    // Agents may publish where other agents answer: what they answer must be in a subject that they cannot guess.
    if case .ask = subject {
      return try connection.ask(
        "\(subject)", payload, replyPrefix: FleetReplySubject.answers, within: timeLimit
      ).payload
    }
    return try connection.request("\(subject)", payload, within: timeLimit).payload
  }
}
