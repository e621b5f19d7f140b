internal import Dispatch
internal import Locks
internal import Logging
internal import ReachabilityFleet
internal import Webhooks

extension FleetService {
  /// Performs an effect, outside of the critical section.
  func perform(_ effect: FleetReplica.Effect) {
    switch effect {
    case .readStreamState(let sequence): reader.readState(since: sequence) { [weak self] in self?.handle($0) }
    case .consume(let sequence): reader.consume(from: sequence) { [weak self] in self?.receive($0) }
    case .publish(let message, let expectation):
      publish(message, expecting: expectation) { [logger] result in
        // A refusal is normal when replicas propose at the same time; a timeout leads to another attempt.
        if case .failure(let error) = result, error != .unexpectedLast {
          logger.debug("a message was not published", metadata: ["subject": "\(message.subject)", "error": "\(error)"])
        }
      }
    case .requestBase(let agent, let position):
      // The base itself is the answer; the request is sent again while it is missing.
      members.send(FleetWire.encode(.base(after: position)), on: .ask(agent))
    case .ask(let agent): ask(agent)
    case .requestChecks(let agent, let targets):
      // Not a request, which occupies a thread until the checks have ended.
      members.send(FleetWire.encode(.check(targets: targets)), on: .ask(agent))
    case .question(let question):
      FleetQuestioner(members, queue).ask(question, until: Self.now + question.timeLimit) { [weak self] results in
        self?.handle(.answered(question, results))
      }
    case .wake(let time): wake(at: time)
    case .events, .hole, .restarted: break
    }
  }

  /// Publishes a message, and notes whether the engine stores it.
  func publish(
    _ message: FleetMessage, expecting expectation: FleetEngineExpectedLast?,
    completion: @escaping @Sendable (Result<UInt64, FleetEngineError>) -> Void
  ) {
    engine.publish(FleetWire.encode(message), on: message.subject, expecting: expectation) { [weak self] result in
      let error: FleetEngineError? = if case .failure(let error) = result { error } else { nil }
      self?.state.withLock { $0.health.published(error, at: Self.now) }
      completion(result)
    }
  }

  /// Publishes the position of a webhook after an earlier one; 0 for none.
  func publish(
    _ position: WebhookPosition, of webhook: String, after last: UInt64,
    completion: @escaping @Sendable (Result<UInt64, FleetEngineError>) -> Void
  ) {
    engine.publish(
      position.document, on: .hook(webhook), expecting: FleetEngineExpectedLast(after: last), completion: completion)
  }

  /// Asks an agent whether it is there; an answer is not needed, because its heartbeats say that it is.
  private func ask(_ agent: String) {
    members.request(FleetWire.encode(AgentRequest.ping), on: .ask(agent), within: .seconds(1)) { [weak self] result in
      guard let self, case .failure(.noResponders) = result else { return }
      queue.async { self.handle(.absent(agent)) }
    }
  }

  private func receive(_ input: FleetReplica.Input) {
    if case .message(nil, let stored, _) = input { state.withLock(\.webhooks)?.read(stored) }
    handle(input)
  }

  private func wake(at time: Duration) {
    let number = state.withLock { state -> UInt64 in
      state.wakeNumber += 1
      return state.wakeNumber
    }
    queue.asyncAfter(deadline: .now() + max(time - Self.now, .zero).timeInterval) { [weak self] in
      guard let self, state.withLock({ $0.wakeNumber == number }) else { return }
      handle(.timer)
    }
  }
}
