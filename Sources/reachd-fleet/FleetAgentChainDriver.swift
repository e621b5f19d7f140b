internal import Dispatch
internal import Locks
internal import Logging
internal import ReachabilityFleet
internal import FleetAPI

/// Carries out what an ``AgentChain`` decides.
final class FleetAgentChainDriver: Sendable {
  private struct State: Sendable {
    /// Nil until the stored acknowledgement was read.
    var chain: FleetAgentChain?
    /// The number of the last timer; earlier ones have no effect.
    var timer = 0
    var isConnected = false
    var isReady = false
  }

  private let agent: String
  private let engine: any FleetEngine
  private let store: any FleetStore
  private let logger: Logger
  private let onConflict: @Sendable () -> Void
  private let state = Locked(State())
  private let queue = DispatchQueue(label: "chain")
  private let start = ContinuousClock.now

  /// Creates a driver that does nothing until ``begin(_:last:)``.
  ///
  /// - Parameters:
  ///   - agent: the agent's id.
  ///   - engine: the engine.
  ///   - store: the agent's events.
  ///   - logger: receives failures.
  ///   - onConflict: called when another process publishes as this agent.
  init(
    agent: String, engine: any FleetEngine, store: any FleetStore, logger: Logger,
    onConflict: @escaping @Sendable () -> Void
  ) {
    self.agent = agent
    self.engine = engine
    self.store = store
    self.logger = logger
    self.onConflict = onConflict
  }

  /// Begins to publish when the engine is connected.
  ///
  /// - Parameters:
  ///   - saved: what an earlier process has saved.
  ///   - last: the number of the store's last event.
  func begin(_ saved: FleetAcknowledgement?, last: UInt64) {
    // Agents that start together must not publish their bases together.
    let interval = FleetLimits.baseInterval * Double.random(in: 0.9...1.1)
    let isConnected = state.withLock { state in
      state.chain = FleetAgentChain(agent: agent, epoch: store.epoch, last: last, saved: saved, baseInterval: interval)
      return state.isConnected && state.isReady
    }
    if isConnected { handle(.connection(true)) }
  }

  /// Reports whether the engine is connected and has this agent's `hello`.
  func connection(isConnected: Bool, isReady: Bool) {
    state.withLock { state in (state.isConnected, state.isReady) = (isConnected, isReady) }
    handle(.connection(isConnected && isReady))
  }

  /// Reports an input.
  func handle(_ input: FleetAgentChain.Input) {
    queue.async { [self] in
      let now = ContinuousClock.now - start
      let effects = state.withLock { $0.chain?.handle(input, at: now) ?? [] }
      for effect in effects { perform(effect) }
    }
  }

  /// The numbers of the store that are not published.
  var backlog: UInt64 { state.withLock { $0.chain?.backlog ?? 0 } }

  private func perform(_ effect: FleetAgentChain.Effect) {
    switch effect {
    case .perform(let action, let operation): perform(action, operation)
    case .save(let acknowledgement): store.save(acknowledgement)
    case .wake(let time): wake(at: time)
    case .conflict(let epoch):
      logger.critical("another process publishes as this agent", metadata: ["agent": "\(agent)", "epoch": "\(epoch)"])
      onConflict()
    }
  }

  private func perform(_ action: FleetAgentChain.Action, _ operation: UInt64) {
    let end: @Sendable (FleetAgentChain.Outcome) -> Void = { [weak self] outcome in
      self?.handle(.completed(outcome, operation: operation))
    }
    switch action {
    case .readLastMessage:
      engine.lastMessage(on: .events(agent)) { [agent] result in
        end(.lastMessage(result.map { $0.map { FleetAgentChain.OwnMessage($0, of: agent) } }))
      }
    case .readChanges(let number, let limit):
      store.changes(after: number, limit: limit) { end(.changes($0)) }
    case .readBase: store.base { end(.base($0)) }
    case .publish(let message, let expectation):
      engine.publish(FleetWire.encode(.agent(message)), on: .events(agent), expecting: expectation) { [logger] result in
        if case .failure(let error) = result, error != .unexpectedLast, error != .disconnected {
          logger.warning("the engine did not store a message", metadata: ["error": "\(error)"])
        }
        end(.published(result))
      }
    }
  }

  private func wake(at time: Duration) {
    let number = state.withLock { state in
      state.timer += 1
      return state.timer
    }
    let delay = max(.zero, time - (ContinuousClock.now - start))
    queue.asyncAfter(deadline: .now() + .milliseconds(Int(delay / .milliseconds(1)) + 1)) { [weak self] in
      guard let self, state.withLock({ $0.timer == number }) else { return }
      handle(.timer)
    }
  }
}

extension FleetAgentChain.OwnMessage {
  /// What a stored message says; one that cannot be read, or is of another agent, has no epoch.
  fileprivate init(_ stored: FleetEngineStoredMessage, of agent: String) {
    if case .agent(let message)? = FleetWire.decode(stored.payload, subject: "\(FleetSubject.events(agent))") {
      self.init(message, sequence: stored.sequence)
      return
    }
    let none = AgentMessage(
      agent: agent, epoch: "", after: 0, .changes(AgentChangeBatch(prev: 0, from: 0, to: 0, changes: [])))
    self.init(none, sequence: stored.sequence)
  }
}
