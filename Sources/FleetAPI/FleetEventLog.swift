internal import Locks
internal import Logging
internal import ReachabilityFleet
internal import ReachabilityModel

/// Writes what happens in the fleet to the log of a replica: verdicts, lost agents, missing events.
///
/// The number of lines is limited: the end of a zone changes thousands of verdicts.
final class FleetEventLog: Sendable {
  /// The lines of ``window``; further changes are counted.
  static let lines = 100
  /// The time for which lines are counted.
  static let window = Duration.seconds(10)

  private struct State: Sendable {
    var start = Duration.zero
    var lines = 0
    var omitted = 0
  }

  private let logger: Logger
  private let state = Locked(State())

  init(_ logger: Logger) { self.logger = logger }

  /// Writes events that are new.
  func log(_ events: [FleetEvent], _ fold: FleetFold, at now: Duration) {
    for event in events {
      switch event.content {
      case .verdict(let message):
        guard admits(at: now) else { continue }
        var facts: Logger.Metadata = [
          "target": "\(message.target)", "old": "\((message.from ?? .unknown).rawValue)",
          "verdict": "\(message.to.rawValue)", "by": "\(message.by)",
        ]
        if let reason = message.reason { facts["reason"] = "\(reason.rawValue)" }
        if !message.downFrom.isEmpty { facts["downFrom"] = "\(message.downFrom.joined(separator: ","))" }
        logger.info("verdict changed", metadata: facts)
      case .node(let id, let state, let hello):
        guard admits(at: now) else { continue }
        let hello = hello ?? fold.nodes[id]?.hello
        let role = hello?.role.rawValue ?? "agent"
        logger.log(
          level: state == .lost ? .warning : .info, "\(role) \(state.rawValue)",
          metadata: [role == "agent" ? "agent" : "replica": "\(id)", "zone": "\(hello?.zone ?? "")"])
      case .gap(let agent, let after, let before):
        guard admits(at: now) else { continue }
        logger.warning(
          "events of an agent are missing", metadata: ["agent": "\(agent)", "after": "\(after)", "before": "\(before)"])
      case .cell, .definition: continue
      }
    }
  }

  /// Writes how many changes had no line, when their time has ended.
  func logOmitted(at now: Duration) {
    let omitted = state.withLock { state in
      guard now - state.start >= Self.window else { return 0 }
      defer { state.omitted = 0 }
      return state.omitted
    }
    if omitted > 0 { logger.notice("further changes of the fleet", metadata: ["count": "\(omitted)"]) }
  }

  private func admits(at now: Duration) -> Bool {
    logOmitted(at: now)
    return state.withLock { state in
      if now - state.start >= Self.window { (state.start, state.lines) = (now, 0) }
      guard state.lines < Self.lines else {
        state.omitted += 1
        return false
      }
      state.lines += 1
      return true
    }
  }
}
