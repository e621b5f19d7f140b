internal import Locks
internal import Logging
internal import ReachabilityFleet
internal import ReachabilityModel

/// Writes what happens in the fleet to the log of a replica: verdicts, lost agents, missing events.
///
/// The number of lines is limited: the end of a zone changes thousands of verdicts. Each kind has lines of its own, and
/// each agent and target a share of them: an agent can cause gaps, starts and changes of its targets as it likes, and must
/// not hide what others do.
final class FleetEventLog: Sendable {
  /// The lines of each kind in ``window``; further changes are counted.
  static let lines = 100
  /// Those about one agent, replica or target.
  static let share = 4
  /// The time for which lines are counted.
  static let window = Duration.seconds(10)

  private enum Kind: Hashable { case verdict, node, gap }

  private struct Share: Hashable {
    var kind: Kind
    var id: String
  }

  private struct State: Sendable {
    var start = Duration.zero
    var lines: [Kind: Int] = [:]
    /// By kind and id; only lines that were written are counted, so it has at most as many entries.
    var shares: [Share: Int] = [:]
    var omitted = 0
  }

  private let logger: Logger
  private let state = Locked(State())

  init(_ logger: Logger) { self.logger = logger }

  func log(_ events: [FleetEvent], _ fold: FleetFold, at now: Duration) {
    for event in events {
      switch event.content {
      case .verdict(let message):
        guard admits(.verdict, message.target, at: now) else { continue }
        var facts: Logger.Metadata = [
          "target": "\(message.target)", "old": "\((message.from ?? .unknown).rawValue)",
          "verdict": "\(message.to.rawValue)", "by": "\(message.by)",
        ]
        if let reason = message.reason { facts["reason"] = "\(reason.rawValue)" }
        if let dependency = message.dependency { facts["dependency"] = "\(dependency)" }
        if !message.downFrom.isEmpty { facts["downFrom"] = "\(message.downFrom.joined(separator: ","))" }
        logger.info("verdict changed", metadata: facts)
      case .node(let id, let state, let hello):
        guard admits(.node, id, at: now) else { continue }
        let hello = hello ?? fold.nodes[id]?.hello
        let role = hello?.role.rawValue ?? "agent"
        logger.log(
          level: state == .lost ? .warning : .info, "\(role) \(state.rawValue)",
          metadata: [role == "agent" ? "agent" : "replica": "\(id)", "zone": "\(hello?.zone ?? "")"])
      case .gap(let agent, let after, let before):
        guard admits(.gap, agent, at: now) else { continue }
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

  private func admits(_ kind: Kind, _ id: String, at now: Duration) -> Bool {
    logOmitted(at: now)
    let share = Share(kind: kind, id: id)
    return state.withLock { state in
      if now - state.start >= Self.window { (state.start, state.lines, state.shares) = (now, [:], [:]) }
      guard state.lines[kind, default: 0] < Self.lines, state.shares[share, default: 0] < Self.share else {
        state.omitted += 1
        return false
      }
      state.lines[kind, default: 0] += 1
      state.shares[share, default: 0] += 1
      return true
    }
  }
}
