internal import ArgumentParser
internal import Dispatch
internal import Glibc
internal import Locks
internal import Logging
internal import ReachabilityFleet
internal import FleetAPI

extension FleetAgent {
  // MARK: - Membership

  func connectionChanged(_ isConnected: Bool) {
    queue.async { [self] in
      let standing = state.withLock { state in
        state.isConnected = isConnected
        return state.standing
      }
      guard isConnected else {
        endReading()
        return chain.connection(isConnected: false, isReady: false)
      }
      switch standing {
      case .starting: claim()
      case .unique, .member: confirmHello()
      }
      compareStream()
    }
  }

  /// Asks whether another process answers for the id, and becomes a member if none does.
  func claim() {
    engine.request(FleetWire.encode(AgentRequest.ping), on: .ask(id), within: Self.pingTimeout) { [weak self] result in
      guard let self else { return }
      switch result {
      case .success(let reply):
        guard case .instance(let other)? = FleetWire.reply(reply), other != self.instance else { break }
        return Self.exitAsDuplicate(self.id)
      case .failure(.disconnected): return
      case .failure: break
      }
      self.queue.async { self.join() }
    }
  }

  func join() {
    let isFirst = state.withLock { state in
      guard !state.isStopped, state.standing == .starting else { return false }
      state.standing = .unique
      return true
    }
    guard isFirst else { return }
    let asked = engine.subscribe("\(FleetSubject.ask(id))") { [requests, chain] message, reply in
      requests.handle(message.payload, requestBase: { chain.handle(.baseRequested) }, reply)
    }
    state.withLock { $0.subscriptions.append(asked) }
    confirmHello()
  }

  /// Publishes `hello` unless the stream's last message about this node is this process's own.
  func confirmHello() {
    engine.lastMessage(on: .node(id)) { [weak self] result in
      guard let self else { return }
      let known = state.withLock(\.hello)
      if case .success(let message?) = result, known > 0, message.sequence == known {
        return becomeMember(known)
      }
      guard case .success = result else { return retryHello() }
      publish(.hello(hello, restates: known > 0)) { [weak self] result in
        switch result {
        case .success(let sequence): self?.becomeMember(sequence)
        case .failure: self?.retryHello()
        }
      }
    }
  }

  func becomeMember(_ sequence: UInt64) {
    let isNew = state.withLock { state in
      let isNew = state.standing != .member(hello: sequence)
      state.standing = .member(hello: sequence)
      if state.hello != sequence { state.helloTime = .now }
      state.hello = sequence
      return isNew
    }
    chain.connection(isConnected: true, isReady: true)
    guard isNew else { return }
    chain.handle(.baseRequested)
    compareStream()
  }

  /// Publishes `hello` again before the stream drops it: a replica or an agent that begins then would not know this agent.
  func restateHello(in stream: FleetEngineStreamState) {
    let isDue = state.withLock { state in
      guard case .member(let sequence) = state.standing else { return false }
      return stream.dropsSoon(sequence) || .now - state.helloTime > FleetLimits.restatementAge
    }
    guard isDue else { return }
    publish(.hello(hello, restates: true)) { [weak self] result in
      if case .success(let sequence) = result { self?.becomeMember(sequence) }
    }
  }

  func retryHello() {
    queue.asyncAfter(deadline: .now() + .milliseconds(Int(Self.helloPause / .milliseconds(1)))) { [weak self] in
      guard let self, state.withLock({ $0.isConnected && !$0.isStopped }) else { return }
      confirmHello()
    }
  }

  /// A replica reports that this agent was silent: it says `hello` again if that is its present one.
  func lost(hello sequence: UInt64) {
    guard state.withLock({ $0.standing == .member(hello: sequence) && $0.isConnected }) else { return }
    logger.warning("a replica reported this agent as lost")
    queue.async { self.confirmHello() }
  }

  func publish(
    _ content: NodeMessage.Content, _ completion: @escaping @Sendable (Result<UInt64, FleetEngineError>) -> Void
  ) {
    let message = NodeMessage(id: id, content)
    engine.publish(FleetWire.encode(.node(message)), on: .node(id), expecting: nil, completion: completion)
  }

  /// Ends the process: of two agents of one id, neither's cells would be right.
  static func exitAsDuplicate(_ id: String) {
    FleetTerminal.writeError("reachd-fleet: fleet.id: another agent with the id \(id) is running")
    exit(FleetExitStatus.unavailable.rawValue)
  }
}
