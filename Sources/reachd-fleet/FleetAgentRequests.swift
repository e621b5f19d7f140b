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

  private let instance: UInt64
  private let schedule: CheckSchedule

  init(instance: UInt64, _ schedule: CheckSchedule) {
    self.instance = instance
    self.schedule = schedule
  }

  /// Handles a request; one that cannot be read is not answered.
  ///
  /// - Parameters:
  ///   - payload: the request.
  ///   - requestBase: called when a base is requested; returns the end of the one that the stream has already.
  ///   - reply: sends the reply; nil when the sender waits for none.
  func handle(
    _ payload: [UInt8], requestBase: (FleetEngineStreamPosition) -> UInt64?, _ reply: (@Sendable ([UInt8]) -> Void)?
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
      let cells = targets.compactMap { id in schedule.report(of: id).map { FleetBaseCell(id, FleetCellState($0)) } }
      reply(FleetWire.encode(AgentReply.results(cells)))
    }
    let queue = DispatchQueue.global()
    group.notify(queue: queue) { send() }
    queue.asyncAfter(deadline: .now() + .milliseconds(Int(Self.timeLimit / .milliseconds(1)))) { send() }
  }
}
