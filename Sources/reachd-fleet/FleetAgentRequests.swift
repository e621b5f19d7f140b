internal import Dispatch
internal import Locks
internal import ReachabilityChecks
internal import ReachabilityFleet
internal import FleetAPI

/// Answers requests of replicas and of processes with the same id.
final class FleetAgentRequests: Sendable {
  /// The targets of one request; more are not checked.
  private static let targetLimit = 256
  /// The time after which the results that there are by then are sent.
  private static let timeLimit = Duration.seconds(30)

  private let agent: String
  private let instance: UInt64
  private let messenger: NATSMessenger
  private let schedule: CheckSchedule

  init(agent: String, instance: UInt64, _ messenger: NATSMessenger, _ schedule: CheckSchedule) {
    (self.agent, self.instance, self.messenger, self.schedule) = (agent, instance, messenger, schedule)
  }

  /// Answers requests until the subscription ends; those that cannot be read are not answered.
  ///
  /// - Parameter requestBase: called when a base is requested; returns the end of the one that the stream has already.
  /// - Returns: the subscription.
  func answer(
    requestBase: @escaping @Sendable (FleetEngineStreamPosition) -> UInt64?
  ) -> any FleetSubscription {
    messenger.subscribe("\(FleetSubject.ask(agent))", group: nil) { [weak self, messenger] message in
      var reply: (@Sendable ([UInt8]) -> Void)?
      if let text = message.reply {
        guard let subject = FleetReplySubject(answer: text) else { return }
        reply = { messenger.answer($0, on: subject) }
      }
      self?.handle(message.payload, requestBase, reply)
    }
  }

  private func handle(
    _ payload: [UInt8], _ requestBase: (FleetEngineStreamPosition) -> UInt64?, _ reply: (@Sendable ([UInt8]) -> Void)?
  ) {
    guard let request = FleetWire.request(payload) else { return }
    switch request {
    case .ping: reply?(FleetWire.encode(AgentReply.instance(instance)))
    case .base(let position):
      let known = requestBase(position)
      reply?(FleetWire.encode(known.map { AgentReply.published($0) } ?? .accepted))
    case .check(let targets):
      let targets = Array(targets.prefix(Self.targetLimit))
      guard let reply else { return check(targets) }
      check(targets, reply)
    }
  }

  /// Checks targets now, because a check of another agent has failed; the results are reported as those of scheduled checks.
  private func check(_ targets: [String]) {
    for id in targets { _ = schedule.check(id) { _ in } }
  }

  /// Checks targets now, and sends their cells after that.
  private func check(_ targets: [String], _ reply: @escaping @Sendable ([UInt8]) -> Void) {
    let group = DispatchGroup()
    for id in targets {
      group.enter()
      if !schedule.check(id, { _ in group.leave() }) { group.leave() }
    }
    let isSent = Locked(false)
    let send: @Sendable () -> Void = { [schedule] in
      guard
        !isSent.withLock({ sent in
          defer { sent = true }
          return sent
        })
      else { return }
      let results = targets.compactMap { id in schedule.report(of: id).map { FleetCheckResult($0) } }
      reply(FleetWire.encode(AgentReply.results(results)))
    }
    let queue = DispatchQueue.global()
    group.notify(queue: queue) { send() }
    queue.asyncAfter(deadline: .now() + .milliseconds(Int(Self.timeLimit / .milliseconds(1)))) { send() }
  }
}
