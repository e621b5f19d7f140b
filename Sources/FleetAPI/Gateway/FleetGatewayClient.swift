internal import Locks
public import ReachabilityFleet

/// The requests of an agent to the replicas of its fleet.
public final class FleetGatewayClient: Sendable {
  private let agent: String
  private let messenger: any FleetMessenger
  /// When a replica answered last; the start of the process before that.
  private let contact = Locked(ContinuousClock.now)

  /// Creates a client.
  ///
  /// - Parameters:
  ///   - agent: the agent's id.
  ///   - messenger: the connection.
  public init(agent: String, _ messenger: any FleetMessenger) {
    self.agent = agent
    self.messenger = messenger
  }

  /// How long ago a replica answered last.
  public var silence: Duration { .now - contact.withLock(\.self) }

  /// Sends a request.
  ///
  /// - Parameters:
  ///   - request: the request; it may be sent again after any failure.
  ///   - completion: receives the answer, called once.
  public func send(
    _ request: GatewayRequest, completion: @escaping @Sendable (Result<GatewayAnswer, FleetEngineError>) -> Void
  ) {
    messenger.request(GatewayWire.encode(request), on: .request(agent), within: GatewayLimits.patience) {
      [weak self] result in
      completion(
        result.flatMap { payload in
          guard let answer = GatewayWire.answer(payload) else {
            return .failure(.failed("the answer is not understood"))
          }
          self?.contact.withLock { $0 = .now }
          return answer.failure.map { .failure($0) } ?? .success(answer)
        })
    }
  }

  /// Publishes a message of the chain; the result is the stream sequence.
  public func publish(
    _ request: GatewayRequest, completion: @escaping @Sendable (Result<UInt64, FleetEngineError>) -> Void
  ) {
    send(request) { result in
      completion(
        result.flatMap { answer in
          if case .stored(let sequence) = answer { .success(sequence) } else { .failure(.unexpected) }
        })
    }
  }

  /// Reads the agent's last message of its chain; nil when the stream has none.
  public func readLast(
    completion: @escaping @Sendable (Result<FleetAgentChain.OwnMessage?, FleetEngineError>) -> Void
  ) {
    send(.last) { result in
      completion(
        result.flatMap { answer in
          if case .last(let message) = answer { .success(message) } else { .failure(.unexpected) }
        })
    }
  }
}

extension GatewayAnswer {
  /// The failure that the answer is; nil for a success.
  fileprivate var failure: FleetEngineError? {
    switch self {
    case .refused: .unexpectedLast
    case .slowDown(let wait): .slowDown(wait)
    case .rejected(let reason): .rejected(reason)
    // The replica does not know whether the engine has stored it.
    case .failed(let reason): .failed(reason)
    case .duplicate: .duplicate
    case .stored, .last, .confirmed, .roster, .missing: nil
    }
  }
}

extension FleetEngineError {
  fileprivate static let unexpected = FleetEngineError.failed("an answer to another request")
}
