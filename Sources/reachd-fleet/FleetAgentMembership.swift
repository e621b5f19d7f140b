internal import Dispatch
internal import FleetAPI
internal import Locks
internal import Logging
internal import ReachabilityFleet

/// The membership of an agent: its `hello`, the requests that it answers as a member, and its regular comparison with what a
/// replica knows.
final class FleetAgentMembership: Sendable {
  /// The wait before a failed `hello` is tried again, while no replica takes part, and after a rejection.
  private static let helloPause = Duration.seconds(2)
  private static let absencePause = Duration.milliseconds(500)
  private static let rejectionPause = Duration.seconds(10)
  /// How long `bye` may delay the end.
  private static let byeTimeout = Duration.seconds(1)

  private struct State: Sendable {
    var isConnected = false
    var isStopped = false
    /// Whether a `hello` is under way.
    var isGreeting = false
    /// The sequence of the stored `hello`, also by a connection before this one; 0 before it is known that the id is unique.
    var hello: UInt64 = 0
    /// When that was.
    var helloTime = ContinuousClock.now
    /// When the last comparison began, and whether the next one waits for a hint's pause.
    var confirmation = ContinuousClock.now - GatewayLimits.confirmation
    var willConfirm = false
    var subscriptions: [any FleetSubscription] = []
    /// Sends a heartbeat: when replicas have the `hello`, and when they ask for a base.
    var onMember: @Sendable () -> Void = {}

    /// The sequence of the `hello` of a connected member.
    var connectedHello: UInt64? { isConnected && hello > 0 ? hello : nil }
  }

  private let agent: String
  private let instance: UInt64
  private let hello: NodeHello
  private let messenger: NATSMessenger
  private let gateway: FleetGatewayClient
  private let chain: FleetAgentChainDriver
  private let targets: FleetAgentTargets
  private let requests: FleetAgentRequests
  private let queue: DispatchQueue
  private let logger: Logger
  private let state = Locked(State())

  init(
    agent: String, instance: UInt64, _ hello: NodeHello, _ messenger: NATSMessenger, _ gateway: FleetGatewayClient,
    _ chain: FleetAgentChainDriver, _ targets: FleetAgentTargets, _ requests: FleetAgentRequests,
    _ queue: DispatchQueue, _ logger: Logger
  ) {
    (self.agent, self.instance, self.hello) = (agent, instance, hello)
    (self.messenger, self.gateway, self.chain) = (messenger, gateway, chain)
    (self.targets, self.requests, self.queue, self.logger) = (targets, requests, queue, logger)
  }

  /// Becomes a member whenever there is a connection; calls a closure that sends a heartbeat.
  func begin(_ sendHeartbeat: @escaping @Sendable () -> Void) {
    state.withLock { $0.onMember = sendHeartbeat }
    messenger.observeConnection { [weak self] isConnected in self?.connectionChanged(isConnected) }
  }

  var isConnected: Bool { state.withLock(\.isConnected) }

  /// The sequence of the stored `hello`; nil without one, and without a connection.
  var connectedHello: UInt64? { state.withLock(\.connectedHello) }

  private func connectionChanged(_ isConnected: Bool) {
    queue.async { [self] in
      state.withLock { $0.isConnected = isConnected }
      guard isConnected else { return chain.connection(isConnected: false, isReady: false) }
      sayHello()
    }
  }

  /// Has replicas store `hello`, unless the stream's last message about this node is this process's own.
  private func sayHello(restates: Bool = false) {
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
      case .failure(.duplicate): FleetTerminal.exitAsDuplicate(agent)
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
    queue.asyncAfter(deadline: .now() + pause / .seconds(1)) { [weak self] in self?.sayHello() }
  }

  private func becomeMember(_ sequence: UInt64) {
    let before = state.withLock { state in
      defer { state.hello = sequence }
      if state.hello != sequence { state.helloTime = .now }
      return state.hello
    }
    if before == 0 { answerRequests() }
    state.withLock(\.onMember)()
    chain.connection(isConnected: true, isReady: true)
    if before != sequence { chain.handle(.baseRequested) }
    confirm()
    // The replica that answered may not have read the `hello` yet.
    queue.asyncAfter(deadline: .now() + 1) { [weak self] in self?.confirm() }
  }

  /// Receives the requests of replicas: after `hello`, so that another process with the id is asked before.
  private func answerRequests() {
    let asked = requests.answer { [weak self] position in
      guard let self else { return nil }
      // A replica that has read the stream up to a position needs a base; there may be one behind it.
      state.withLock(\.onMember)()
      if let known = chain.base(after: position) { return known }
      chain.handle(.baseRequestedAfter(position))
      return nil
    }
    let changed = messenger.subscribe("\(FleetSubject.changed(agent))", group: nil) { [weak self] _ in
      guard let self else { return }
      queue.async { self.confirmSoon() }
    }
    state.withLock { $0.subscriptions += [asked, changed] }
  }

  // MARK: - Comparison

  /// Compares with the stream: at most once a second when replicas send hints.
  private func confirmSoon() {
    let wait = state.withLock { state -> Duration? in
      guard !state.willConfirm else { return nil }
      state.willConfirm = true
      return max(.zero, state.confirmation + GatewayLimits.hintInterval - .now)
    }
    guard let wait else { return }
    queue.asyncAfter(deadline: .now() + wait / .seconds(1)) { [weak self] in
      guard let self else { return }
      state.withLock { $0.willConfirm = false }
      confirm()
    }
  }

  /// Compares with the stream if the last comparison was some time ago.
  func confirmRegularly() {
    if state.withLock({ .now - $0.confirmation >= GatewayLimits.confirmation }) { confirm() }
  }

  /// Compares the `hello`, the stream and the list of checks with what a replica knows.
  private func confirm() {
    let isMember = state.withLock { state in
      guard state.connectedHello != nil, !state.isStopped else { return false }
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

  /// Ends the membership, and publishes that; the connection must be closed after it.
  func end() {
    let (isMember, subscriptions) = state.withLock { state in
      state.isStopped = true
      defer { state.subscriptions = [] }
      return (state.connectedHello != nil, state.subscriptions)
    }
    for subscription in subscriptions { subscription.cancel() }
    guard isMember else { return }
    // So that its targets move to others immediately.
    let hasEnded = Latch()
    gateway.send(.bye(instance: instance)) { _ in hasEnded.open() }
    _ = hasEnded.wait(atMost: Self.byeTimeout)
  }
}
