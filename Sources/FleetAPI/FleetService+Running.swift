internal import HTTPRouting
internal import Dispatch
internal import EventStreams
internal import Locks
internal import Logging
internal import ReachabilityFleet

extension FleetService {
  private static let start = ContinuousClock.now
  /// The monotonic time of the replica's inputs.
  static var now: Duration { ContinuousClock.now - start }

  func sendHeartbeats() {
    let hello = state.withLock { state -> UInt64? in
      state.isStopped ? nil : state.replica.fold.nodes[id]?.helloSequence ?? 0
    }
    guard let hello else { return }
    review()
    members.send(
      FleetWire.encode(HeartbeatMessage(agent: id, instance: instance, outbox: 0, hello: hello)), on: .heartbeat(id))
    queue.asyncAfter(deadline: .now() + FleetLimits.heartbeatInterval.timeInterval) { [weak self] in
      self?.sendHeartbeats()
    }
  }

  /// What is due regularly besides heartbeats.
  private func review() {
    let now = Self.now
    changes.logOmitted(at: now)
    let (report, replica, isUsable, webhooks) = state.withLock { state in
      (
        state.health.report(of: state.replica, at: now), state.replica,
        state.health.problem(of: state.replica, at: now) == nil, state.webhooks
      )
    }
    webhooks?.review(replica, isUsable: isUsable, at: now)
    let nodes = replica.fold.nodes
    if heartbeats.count > nodes.count { heartbeats.discard { nodes[$0] != nil } }
    switch report {
    case .began(let problem, let age):
      logger.error(
        "the engine of the fleet cannot be used", metadata: ["problem": "\(problem)", "age": "\(age.wholeSeconds)s"])
    case .ended(let time):
      logger.notice("the engine of the fleet can be used again", metadata: ["after": "\(time.wholeSeconds)s"])
    case nil: break
    }
  }

  /// What follows from an input outside of the critical section.
  private struct Outcome {
    var effects: [FleetReplica.Effect] = []
    var finished: [FleetFoldWaiters.Waiter] = []
    var isChange = false
    /// Whether the events are new, and not read again.
    var isLogged = false
    /// The state that is complete now and was not a state before.
    var completed: FleetFold?
    /// Whether the replica receives requests of agents.
    var isMember = false
  }

  /// Processes an input, on the queue.
  func handle(_ input: FleetReplica.Input) {
    let now = Self.now
    let arrived = heartbeats.takeArrived()
    let outcome = state.withLock { state -> Outcome in
      guard !state.isStopped else { return Outcome() }
      let before = state.replica.fold.position
      let (wasComplete, hadState) = (state.replica.isComplete, state.replica.hasState)
      if !arrived.isEmpty { _ = state.replica.handle(.heartbeats(arrived), at: now) }
      let effects = state.replica.handle(input, at: now)
      for effect in effects { publish(effect, &state) }
      let finished = state.waiters.removeFolded(by: state.replica)
      let isMember = state.replica.isComplete && state.replica.isConnected
      return Outcome(
        effects: effects, finished: finished, isChange: isMember && state.replica.fold.position != before,
        isLogged: wasComplete, completed: state.replica.hasState && !hadState ? state.replica.fold : nil,
        isMember: isMember)
    }
    gateway.setMember(outcome.isMember)
    if outcome.isChange { waitingRequests.notifyLater() }
    outcome.finished.forEach { $0.complete(true) }
    notify(outcome.effects)
    if outcome.isLogged {
      for case .events(let events) in outcome.effects { changes.log(events, state.withLock(\.replica.fold), at: now) }
    }
    if let fold = outcome.completed {
      logger.notice(
        "the state of the fleet is read",
        metadata: ["sequence": "\(fold.sequence)", "targets": "\(fold.targets.count)", "nodes": "\(fold.nodes.count)"])
    }
    outcome.effects.forEach(perform)
    sendHints()
  }

  /// Gives events to the webhooks.
  private func notify(_ effects: [FleetReplica.Effect]) {
    guard let webhooks = state.withLock(\.webhooks) else { return }
    for effect in effects {
      switch effect {
      case .events(let events): webhooks.append(events, state.withLock(\.replica.fold))
      case .restarted: webhooks.restart()
      default: break
      }
    }
  }

  /// Adds events to the history, in the critical section in which the state changes.
  private func publish(_ effect: FleetReplica.Effect, _ state: inout State) {
    switch effect {
    case .events(let events):
      let fold = state.replica.fold
      if state.lastEvent == nil, let first = events.first {
        restart(after: min(FleetEventID.number(before: fold.complete), first.id.number), &state)
      }
      state.lastEvent = events.last?.id ?? state.lastEvent
      log.append(contentsOf: events.map { FleetEventRepresentation.entry($0, fold) })
    case .hole(let sequence):
      restart(after: FleetEventID.number(before: sequence), &state)
      logger.warning("the stream has dropped messages that were not read", metadata: ["before": "\(sequence)"])
    case .restarted:
      restart(after: 0, &state)
      logger.warning("the engine has another stream; the state of the fleet is read again")
    default: break
    }
  }

  /// Empties the log; the next event has a greater number.
  private func restart(after number: UInt64, _ state: inout State) {
    (state.lastEvent, state.start) = (nil, number)
    log.restart(baseID: number)
  }
}

/// Requests that wait until a message is folded.
struct FleetFoldWaiters {
  /// Clients without authorization may send them, and each waits for seconds.
  private static let limit = 1024

  struct Waiter: Sendable {
    var position: FleetEngineStreamPosition
    var complete: @Sendable (_ isFolded: Bool) -> Void
  }

  private var waiters: [UInt64: Waiter] = [:]
  private var next: UInt64 = 0

  /// Adds one; nil if too many wait.
  mutating func add(_ waiter: Waiter) -> UInt64? {
    guard waiters.count < Self.limit else { return nil }
    next += 1
    waiters[next] = waiter
    return next
  }

  mutating func remove(_ number: UInt64) -> Waiter? { waiters.removeValue(forKey: number) }

  /// Removes those whose messages a replica has folded.
  mutating func removeFolded(by replica: FleetReplica) -> [Waiter] {
    let numbers = waiters.filter { Self.isFolded($0.value.position, by: replica) }.keys
    return numbers.compactMap { waiters.removeValue(forKey: $0) }
  }

  static func isFolded(_ position: FleetEngineStreamPosition, by replica: FleetReplica) -> Bool {
    let fold = replica.fold
    return replica.isComplete && (fold.created != position.created || fold.sequence >= position.sequence)
  }
}
