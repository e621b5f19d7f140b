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
      state.withLock { $0.isConnected = isConnected }
      guard isConnected else { return chain.connection(isConnected: false, isReady: false) }
      sayHello()
    }
  }

  /// Has replicas store `hello`, unless the stream's last message about this node is this process's own.
  func sayHello(restates: Bool = false) {
    let known = state.withLock { state -> UInt64? in
      guard state.isConnected, !state.isStopped, !state.isGreeting else { return nil }
      state.isGreeting = true
      return state.hello
    }
    guard let known else { return }
    let request = GatewayHello(instance: instance, known: known, restates: restates, attributes: hello)
    gateway.send(.hello(request)) { [weak self] result in
      guard let self else { return }
      state.withLock { $0.isGreeting = false }
      switch result {
      case .success(.stored(let sequence)): becomeMember(sequence)
      case .failure(.duplicate): Self.exitAsDuplicate(id)
      case .failure(.slowDown(let wait)): retryHello(after: wait)
      case .failure(.rejected(let reason)):
        logger.error("replicas reject this agent", metadata: ["reason": "\(reason)"])
        retryHello(after: Self.rejectionPause)
      case .failure(.noResponders): retryHello(after: Self.absencePause)
      case .success, .failure: retryHello(after: Self.helloPause)
      }
    }
  }

  private func retryHello(after pause: Duration) {
    queue.asyncAfter(deadline: .now() + .milliseconds(Int(pause / .milliseconds(1)))) { [weak self] in
      self?.sayHello()
    }
  }

  private func becomeMember(_ sequence: UInt64) {
    let (isNew, isFirst) = state.withLock { state in
      let isNew = state.standing != .member(hello: sequence)
      let isFirst = state.standing == .starting
      state.standing = .member(hello: sequence)
      if state.hello != sequence { state.helloTime = .now }
      state.hello = sequence
      return (isNew, isFirst)
    }
    if isFirst { answerRequests() }
    sendHeartbeat()
    chain.connection(isConnected: true, isReady: true)
    if isNew { chain.handle(.baseRequested) }
    confirm()
    // The replica that answered may not have read the `hello` yet.
    queue.asyncAfter(deadline: .now() + 1) { [weak self] in self?.confirm() }
  }

  /// Receives the requests of replicas: after `hello`, so that another process with the id is asked before.
  private func answerRequests() {
    let asked = messenger.subscribe("\(FleetSubject.ask(id))", group: nil) { [weak self] message in
      guard let self else { return }
      var reply: (@Sendable ([UInt8]) -> Void)?
      if let text = message.reply {
        guard let subject = FleetReplySubject(answer: text) else { return }
        reply = { [messenger] in messenger.answer($0, on: subject) }
      }
      requests.handle(message.payload, requestBase: requestBase, reply)
    }
    let changed = messenger.subscribe("\(FleetSubject.changed(id))", group: nil) { [weak self] _ in
      guard let self else { return }
      queue.async { self.confirmSoon() }
    }
    state.withLock { $0.subscriptions += [asked, changed] }
  }

  /// A replica that has read the stream up to a position needs a base; returns the end of the one that lies behind it.
  private func requestBase(after position: FleetEngineStreamPosition) -> UInt64? {
    sendHeartbeat()
    if let known = chain.base(after: position) { return known }
    chain.handle(.baseRequestedAfter(position))
    return nil
  }

  // MARK: - Comparison

  /// Compares with the stream: at most once a second when replicas send hints.
  func confirmSoon() {
    let wait = state.withLock { state -> Duration? in
      guard !state.willConfirm else { return nil }
      state.willConfirm = true
      return max(.zero, state.confirmation + GatewayLimits.hintInterval - .now)
    }
    guard let wait else { return }
    queue.asyncAfter(deadline: .now() + .milliseconds(Int(wait / .milliseconds(1)))) { [weak self] in
      guard let self else { return }
      state.withLock { $0.willConfirm = false }
      confirm()
    }
  }

  /// Compares the `hello`, the stream and the list of checks with what a replica knows.
  func confirm() {
    let isMember = state.withLock { state in
      guard state.isConnected, !state.isStopped, case .member = state.standing else { return false }
      state.confirmation = .now
      return true
    }
    guard isMember else { return }
    gateway.send(.confirm(roster: targets.hash)) { [weak self] result in
      guard let self, case .success(.confirmed(let found)) = result else { return }
      chain.handle(.stream(created: found.stream.created))
      let (known, age) = state.withLock { ($0.hello, .now - $0.helloTime) }
      if found.hello != known {
        // The replica may have read less than this process knows: then the `hello` is found, and nothing is stored.
        sayHello()
      } else if found.stream.dropsSoon(known) || age > FleetLimits.restatementAge {
        sayHello(restates: true)
      }
      if let roster = found.roster { targets.compare(roster, in: found.stream) }
    }
  }

  // MARK: - End

  /// Publishes that this agent ends, so that its targets move to others immediately.
  func sayBye() {
    let hasEnded = Latch()
    gateway.send(.bye(instance: instance)) { _ in hasEnded.open() }
    _ = hasEnded.wait(atMost: Self.byeTimeout)
  }

  /// Ends the process: of two agents of one id, neither's cells would be right.
  static func exitAsDuplicate(_ id: String) {
    FleetTerminal.writeError("reachd-fleet: fleet.id: another agent with the id \(id) is running")
    exit(FleetExitStatus.unavailable.rawValue)
  }
}
