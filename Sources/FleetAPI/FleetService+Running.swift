internal import Dispatch
internal import EventStreams
internal import Locks
internal import Logging
internal import ReachabilityFleet
internal import StatusAPI

extension FleetService {
  private static let start = ContinuousClock.now
  /// The monotonic time of the replica's inputs.
  static var now: Duration { ContinuousClock.now - start }

  func receive(_ heartbeat: HeartbeatMessage) {
    state.withLock { state in
      let nodes = state.replica.fold.nodes
      if nodes[heartbeat.agent] != nil { state.heartbeats[heartbeat.agent] = heartbeat }
      guard state.heartbeats.count > nodes.count else { return }
      state.heartbeats = state.heartbeats.filter { nodes[$0.key] != nil }
    }
    handle(.heartbeat(heartbeat.agent))
    if !heartbeat.suspects.isEmpty { handle(.suspected(heartbeat.suspects, by: heartbeat.agent)) }
  }

  func sendHeartbeats() {
    let hello = state.withLock { state -> UInt64? in
      state.isStopped ? nil : state.replica.fold.nodes[id]?.helloSequence ?? 0
    }
    guard let hello else { return }
    engine.send(
      FleetWire.encode(HeartbeatMessage(agent: id, instance: instance, outbox: 0, hello: hello)), on: .heartbeat(id))
    queue.asyncAfter(deadline: .now() + FleetLimits.heartbeatInterval.timeInterval) { [weak self] in
      self?.sendHeartbeats()
    }
  }

  /// Processes an input, on the queue.
  func handle(_ input: FleetReplica.Input) {
    let now = Self.now
    let (effects, finished, isChange) = state.withLock { state -> ([FleetReplica.Effect], [Waiter], Bool) in
      guard !state.isStopped else { return ([], [], false) }
      let before = state.replica.fold.position
      let effects = state.replica.handle(input, at: now)
      for effect in effects { publish(effect, &state) }
      let numbers = state.waiters.filter { Self.isFolded($0.value.position, state) }.keys
      let finished = numbers.compactMap { state.waiters.removeValue(forKey: $0) }
      return (effects, finished, state.replica.isComplete && state.replica.fold.position != before)
    }
    if isChange { waitingRequests.notifyLater() }
    finished.forEach { $0.complete(true) }
    effects.forEach(perform)
  }

  /// Adds events to the history, in the critical section in which the state changes.
  private func publish(_ effect: FleetReplica.Effect, _ state: inout State) {
    switch effect {
    case .events(let events):
      if state.window.isEmpty, let first = events.first {
        state.window.begin(at: state.replica.fold.first)
        log.restart(baseID: min(state.window.oldest, first.id.number))
      }
      for event in events { state.window.append(event) }
      let fold = state.replica.fold
      log.append(contentsOf: events.map { FleetEventRepresentation.entry($0, fold) })
    case .restarted:
      state.window = FleetEventWindow(limit: Self.eventLimit)
      log.restart(baseID: 0)
      logger.warning("the engine has another stream; the state of the fleet is read again")
    default: break
    }
  }

  // MARK: - Effects

  private func perform(_ effect: FleetReplica.Effect) {
    switch effect {
    case .readStreamState(let sequence): readStreamState(since: sequence, creating: true)
    case .consume(let sequence): consume(from: sequence)
    case .publish(let message, let expectation):
      engine.publish(FleetWire.encode(message), on: message.subject, expecting: expectation) { [logger] result in
        // A refusal is normal when replicas propose at the same time; a timeout leads to another attempt.
        if case .failure(let error) = result, error != .unexpectedLast {
          logger.debug("a message was not published", metadata: ["subject": "\(message.subject)", "error": "\(error)"])
        }
      }
    case .requestBase(let agent):
      engine.request(FleetWire.encode(.base), on: .ask(agent), within: .seconds(2)) { _ in }
    case .ask(let agent): ask(agent)
    case .requestChecks(let agent, let targets):
      // Not a request, which occupies a thread until the checks have ended.
      engine.send(FleetWire.encode(.check(targets: targets)), on: .ask(agent))
    case .wake(let time): wake(at: time)
    case .events, .restarted: break
    }
  }

  /// Asks an agent whether it is there; an answer is not needed, because its heartbeats say that it is.
  private func ask(_ agent: String) {
    engine.request(FleetWire.encode(AgentRequest.ping), on: .ask(agent), within: .seconds(1)) { [weak self] result in
      guard let self, case .failure(.noResponders) = result else { return }
      queue.async { self.handle(.absent(agent)) }
    }
  }

  private func readStreamState(since sequence: UInt64, creating: Bool) {
    engine.streamState { [weak self] result in
      guard let self else { return }
      if case .success(nil) = result, creating {
        createStream { self.readStreamState(since: sequence, creating: false) }
        return
      }
      let state = (try? result.get()) ?? nil
      queue.async { self.handle(.streamState(state, since: sequence)) }
    }
  }

  private func consume(from sequence: UInt64) {
    let (number, old) = state.withLock { state -> (UInt64, (any FleetSubscription)?) in
      state.consumptionNumber += 1
      defer { state.consumption = nil }
      return (state.consumptionNumber, state.consumption)
    }
    old?.cancel()
    let places = DispatchSemaphore(value: Self.waitingDeliveries)
    let new = engine.consume([], from: sequence) { [weak self] delivery in
      guard let self else { return }
      let input: FleetReplica.Input =
        switch delivery {
        case .message(let stored, let pending):
          .message(FleetWire.decode(stored.payload, subject: stored.subject), stored, pending: pending)
        case .interrupted: .interrupted
        }
      places.wait()
      queue.async {
        defer { places.signal() }
        self.deliver(input, number)
      }
    }
    let isObsolete = state.withLock { state in
      guard state.consumptionNumber == number, !state.isStopped else { return true }
      state.consumption = new
      return false
    }
    if isObsolete { new.cancel() }
  }

  private func deliver(_ input: FleetReplica.Input, _ number: UInt64) {
    if state.withLock({ $0.consumptionNumber == number }) { handle(input) }
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
