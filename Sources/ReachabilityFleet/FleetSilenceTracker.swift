/// Decides which nodes a replica reports as lost: a pure state machine over heartbeats.
///
/// Agents that fall silent together are reported together: when one is due, the others whose heartbeat is missing are
/// awaited until they are due too, or a message of them arrives.
public struct FleetSilenceTracker: Sendable {
  private var times: [String: Duration] = [:]
  /// Nodes are not silent before this time; nil while nothing can be received or reported.
  private var start: Duration?
  /// The `hello` of each node that was seen last, and when: a node that begins has time for its first heartbeat.
  private var hellos: [String: (sequence: UInt64, time: Duration)] = [:]
  /// The nodes that were reported, by the `hello` that the report ends, and when.
  private var reported: [String: (hello: UInt64, time: Duration)] = [:]
  /// When this replica last reported each node, also after a message of the node.
  private var reports: [String: Duration] = [:]
  /// The additional time of nodes whose reports were wrong, and since when.
  private var patience: [String: (extra: Duration, time: Duration)] = [:]
  /// How often the engine had no subscription of an agent, since its last message.
  private var absences: [String: Int] = [:]
  /// The agents that a report waits for, and for how long; nil while none is due.
  private var round: Round?
  /// The present nodes that are reported, due or awaited.
  private var ending: Set<String> = []

  private struct Round {
    var awaited: Set<String>
    var end: Duration
  }

  /// Creates a tracker that waits for ``begin(at:)``.
  public init() {}

  /// All nodes get the time of ``FleetLimits/silence`` from now on: after a start, a reconnect, or a stall of this
  /// process.
  public mutating func begin(at now: Duration) {
    start = now
    times = [:]
    reported = [:]
    absences = [:]
    round = nil
    ending = []
  }

  /// This replica cannot receive or report anything.
  public mutating func suspend() { start = nil }

  /// A message of a node has arrived.
  public mutating func received(_ node: String, at now: Duration) {
    times[node] = max(times[node] ?? now, now)
    absences[node] = nil
    reported[node] = nil
    ending.remove(node)
  }

  /// A node that is reported as lost says that it was there.
  ///
  /// If this replica has reported it, the heartbeats do not reach this replica, and it waits longer the next time.
  mutating func returned(_ node: String, at now: Duration) {
    guard let report = reports[node], now - report < FleetLimits.reportAnswer else { return }
    let extra = min(
      extraPatience(for: node, at: now) + FleetLimits.silence, FleetLimits.longestSilence - FleetLimits.silence)
    patience[node] = (extra, now)
  }

  private func extraPatience(for node: String, at now: Duration) -> Duration {
    guard let known = patience[node], now - known.time < FleetLimits.patienceAge else { return .zero }
    return known.extra
  }

  /// The engine had no subscription of an agent: its process has ended, or its connection is lost.
  ///
  /// An answer that comes after a message of the agent does not count.
  public mutating func absent(_ agent: String, at now: Duration) {
    guard let start, now - max(times[agent] ?? start, start) > FleetLimits.missedHeartbeat else { return }
    absences[agent, default: 0] += 1
  }

  /// Whether no message of a node has arrived for more than one period of heartbeats, or since ``begin(at:)``: it may
  /// have fallen silent, and its votes may be out of date.
  public func isOverdue(_ node: String, at now: Duration) -> Bool {
    guard start != nil, let time = times[node] else { return true }
    return now - time > FleetLimits.heartbeatInterval
  }

  /// Whether a present node is reported, due or awaited: its vote ends soon, unless a message of it arrives.
  public func isEnding(_ node: String) -> Bool { ending.contains(node) }

  /// Whether there is such a node.
  public var hasEnding: Bool { !ending.isEmpty }

  /// When a message of a node arrived last; nil since ``begin(at:)``.
  public func lastReceived(_ node: String) -> Duration? { times[node] }

  /// The agents that have missed a heartbeat, and that this replica asks whether they are there.
  ///
  /// The first replica of an agent's ranking asks, and each that awaits the agent in a round; the others wait for
  /// ``FleetLimits/silence``.
  func doubtful(_ fold: FleetFold, at now: Duration, replica: String) -> [String] {
    guard start != nil else { return [] }
    let replicas = fold.presentReplicas
    let found = fold.nodes.filter { id, node in
      node.isAgent && node.state == .present && node.hello != nil
        && hellos[id]?.sequence == node.helloSequence && !isReported(id, node, at: now)
        && age(of: id, at: now) > FleetLimits.missedHeartbeat
        && (round?.awaited.contains(id) == true
          || FleetRendezvousHash.rank(of: replica, among: replicas, for: id) == 0)
    }
    return Array(found.keys.sorted().prefix(FleetLimits.questionsPerRound))
  }

  // MARK: - Reports

  /// The nodes that are silent; each again while the stream does not have its report.
  ///
  /// - Parameters:
  ///   - fold: the nodes.
  ///   - now: the monotonic time.
  ///   - excluded: this replica, which receives no heartbeats of itself.
  /// - Returns: the messages to publish.
  public mutating func lost(_ fold: FleetFold, at now: Duration, excluding excluded: String) -> [NodeMessage] {
    guard start != nil else { return [] }
    var due: [(id: String, hello: UInt64, attributes: NodeHello)] = []
    var overdue: Set<String> = []
    ending = []
    let replicas = fold.presentReplicas
    for (id, node) in fold.nodes where node.state == .present && id != excluded {
      guard let hello = node.hello else { continue }
      if hellos[id]?.sequence != node.helloSequence { hellos[id] = (node.helloSequence, now) }
      if isReported(id, node, at: now) {
        ending.insert(id)
      } else if isDue(id, among: replicas, at: now, replica: excluded) {
        due.append((id, node.helloSequence, hello))
      } else if node.isAgent, age(of: id, at: now) > FleetLimits.heartbeatInterval {
        overdue.insert(id)
      }
    }
    discardNodes(exceptOf: fold)
    ending.formUnion(due.map(\.id))
    guard !due.isEmpty, !awaits(overdue, at: now) else { return [] }
    for node in due {
      reported[node.id] = (node.hello, now)
      reports[node.id] = now
    }
    return due.map { NodeMessage(id: $0.id, .lost(hello: $0.hello, attributes: $0.attributes, by: excluded)) }
      .sorted { $0.id < $1.id }
  }

  /// Whether the report of this round waits: for the agents that were overdue when the first one was due.
  private mutating func awaits(_ overdue: Set<String>, at now: Duration) -> Bool {
    let begun = round ?? Round(awaited: overdue, end: now + FleetLimits.silenceRound)
    let awaited = begun.awaited.intersection(overdue)
    guard !awaited.isEmpty, now < begun.end else {
      round = nil
      return false
    }
    round = Round(awaited: awaited, end: begun.end)
    ending.formUnion(awaited)
    return true
  }

  private func isDue(_ id: String, among replicas: [String], at now: Duration, replica: String) -> Bool {
    let rank = FleetRendezvousHash.rank(of: replica, among: replicas, for: id) ?? replicas.count
    let limit = FleetLimits.silence + extraPatience(for: id, at: now) + FleetLimits.proposalDelay * rank
    return absences[id] ?? 0 >= FleetLimits.absences || age(of: id, at: now) > limit
  }

  /// The time since a node's last message, or since it could send the first one.
  private func age(of id: String, at now: Duration) -> Duration {
    let start = max(start ?? now, hellos[id]?.time ?? .zero)
    return now - max(times[id] ?? start, start)
  }

  /// Whether a report is under way; one that the stream does not have after some seconds is repeated.
  private func isReported(_ id: String, _ node: FleetFoldedNode, at now: Duration) -> Bool {
    guard let report = reported[id], report.hello == node.helloSequence else { return false }
    return now - report.time < FleetLimits.reportRepetition
  }

  /// Discards what belongs to nodes that the fold does not have any longer.
  private mutating func discardNodes(exceptOf fold: FleetFold) {
    guard max(hellos.count, times.count, reports.count) > fold.nodes.count else { return }
    hellos = hellos.filter { fold.nodes[$0.key] != nil }
    times = times.filter { fold.nodes[$0.key] != nil }
    reported = reported.filter { fold.nodes[$0.key] != nil }
    absences = absences.filter { fold.nodes[$0.key] != nil }
    reports = reports.filter { fold.nodes[$0.key] != nil }
    patience = patience.filter { fold.nodes[$0.key] != nil }
  }
}
