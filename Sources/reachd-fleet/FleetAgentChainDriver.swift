internal import Dispatch
internal import Locks
internal import Logging
internal import ReachabilityFleet
internal import FleetAPI

/// Carries out what a ``FleetAgentChain`` decides.
final class FleetAgentChainDriver: Sendable {
  private struct State: Sendable {
    /// Nil until the stored acknowledgement was read.
    var chain: FleetAgentChain?
    /// The number of the last timer; earlier ones have no effect.
    var timer = 0
    var isConnected = false
    var isReady = false
    /// The messages that replicas rejected.
    var leftOut: UInt64 = 0
  }

  private let agent: String
  private let gateway: FleetGatewayClient
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
  ///   - gateway: the requests to replicas.
  ///   - store: the agent's events.
  ///   - logger: receives failures.
  ///   - onConflict: called when another process publishes as this agent.
  init(
    agent: String, gateway: FleetGatewayClient, store: any FleetStore, logger: Logger,
    onConflict: @escaping @Sendable () -> Void
  ) {
    (self.agent, self.gateway, self.store) = (agent, gateway, store)
    (self.logger, self.onConflict) = (logger, onConflict)
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

  func handle(_ input: FleetAgentChain.Input) {
    queue.async { [self] in
      let now = ContinuousClock.now - start
      let effects = state.withLock { $0.chain?.handle(input, at: now) ?? [] }
      for effect in effects { perform(effect) }
    }
  }

  /// The messages that replicas rejected, and that were left out.
  var leftOut: UInt64 { state.withLock(\.leftOut) }

  /// The age of the oldest event that is not published; zero when all are.
  var age: Duration {
    guard let since = state.withLock({ $0.chain?.oldestWaiting }) else { return .zero }
    return ContinuousClock.now - start - since
  }

  /// The end of the last complete base, if it lies behind a position of the stream.
  func base(after position: FleetEngineStreamPosition) -> UInt64? {
    state.withLock { state in
      guard let chain = state.chain, chain.hasBase(after: position) else { return nil }
      return chain.completeBase?.sequence
    }
  }

  /// The numbers of the store that are not published.
  var backlog: UInt64 { state.withLock { $0.chain?.backlog ?? 0 } }

  private func perform(_ effect: FleetAgentChain.Effect) {
    switch effect {
    case .perform(let action, let operation): perform(action, operation)
    case .save(let acknowledgement): store.save(acknowledgement)
    case .wake(let time): wake(at: time)
    case .leftOut(let message, let reason):
      state.withLock { $0.leftOut += 1 }
      logger.error(
        "replicas reject an event, and it is left out",
        metadata: ["event": "\(message.epoch)-\(message.to)", "reason": "\(reason)"])
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
      gateway.readLast { end(.lastMessage($0)) }
    case .readChanges(let number, let limit):
      store.changes(after: number, limit: limit) { end(.changes($0)) }
    case .readBase: store.base { end(.base($0)) }
    // The message names the one that it follows.
    case .publish(let message, _):
      gateway.publish(.publish(message)) { [logger] result in
        switch result {
        case .success, .failure(.unexpectedLast), .failure(.disconnected), .failure(.slowDown): break
        case .failure(let error):
          logger.warning("a message was not stored", metadata: ["error": "\(error)"])
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
