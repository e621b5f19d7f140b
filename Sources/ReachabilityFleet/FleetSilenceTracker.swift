/// Decides which nodes a replica reports as lost: a pure state machine over heartbeats.
public struct FleetSilenceTracker: Sendable {
  private var times: [String: Duration] = [:]
  /// Nodes are not silent before this time; nil while nothing can be received or reported.
  private var start: Duration?
  /// The `hello` of each node that was seen last: a node that begins has time for its first heartbeat.
  private var hellos: [String: UInt64] = [:]
  /// The nodes that were reported, by the `hello` that the report ends, and when.
  private var reported: [String: (hello: UInt64, time: Duration)] = [:]
  /// How often the engine had no subscription of an agent, since its last message.
  private var absences: [String: Int] = [:]

  /// Creates a tracker that waits for ``begin(at:)``.
  public init() {}

  /// All nodes get the time of ``FleetLimits/silence`` from now on: after a start, a reconnect, or a stall of this
  /// process.
  public mutating func begin(at now: Duration) {
    start = now
    times = [:]
    reported = [:]
    absences = [:]
  }

  /// This replica cannot receive or report anything.
  public mutating func suspend() { start = nil }

  /// A heartbeat has arrived.
  public mutating func received(_ node: String, at now: Duration) {
    times[node] = now
    absences[node] = nil
    reported[node] = nil
  }

  /// The engine had no subscription of an agent: its process has ended, or its connection is lost.
  ///
  /// An answer that comes after a message of the agent does not count.
  public mutating func absent(_ agent: String, at now: Duration) {
    guard let start, now - max(times[agent] ?? start, start) > FleetLimits.missedHeartbeat else { return }
    absences[agent, default: 0] += 1
  }

  /// Whether a report is under way; one that the stream does not have after some seconds is repeated.
  private func isReported(_ id: String, _ node: FleetFoldedNode, at now: Duration) -> Bool {
    guard let report = reported[id], report.hello == node.helloSequence else { return false }
    return now - report.time < FleetLimits.reportRepetition
  }

  /// The agents that have missed a heartbeat, and that this replica asks whether they are there.
  ///
  /// Only the first replica of an agent's ranking asks; the others wait for ``FleetLimits/silence``.
  func doubtful(_ fold: FleetFold, at now: Duration, replica: String) -> [String] {
    guard let start else { return [] }
    let replicas = fold.presentReplicas
    let found = fold.nodes.filter { id, node in
      node.isAgent && node.state == .present && node.hello != nil
        && hellos[id] == node.helloSequence && !isReported(id, node, at: now)
        && now - max(times[id] ?? start, start) > FleetLimits.missedHeartbeat
        && FleetRendezvousHash.rank(of: replica, among: replicas, for: id) == 0
    }
    return Array(found.keys.sorted().prefix(FleetLimits.questionsPerRound))
  }

  /// When a message of a node arrived last; nil since ``begin(at:)``.
  public func lastReceived(_ node: String) -> Duration? { times[node] }

  /// The nodes that are silent; each again while the stream does not have its report.
  ///
  /// - Parameters:
  ///   - fold: the nodes.
  ///   - now: the monotonic time.
  ///   - excluded: this replica, which receives no heartbeats of itself.
  /// - Returns: the messages to publish.
  public mutating func lost(_ fold: FleetFold, at now: Duration, excluding excluded: String) -> [NodeMessage] {
    guard let start else { return [] }
    var messages: [NodeMessage] = []
    let replicas = fold.presentReplicas
    for (id, node) in fold.nodes where node.state == .present && id != excluded {
      guard let hello = node.hello else { continue }
      let rank = FleetRendezvousHash.rank(of: excluded, among: replicas, for: id) ?? replicas.count
      let patience = FleetLimits.silence + FleetLimits.proposalDelay * rank
      if hellos.updateValue(node.helloSequence, forKey: id) != node.helloSequence { times[id] = now }
      let isAbsent = absences[id] ?? 0 >= FleetLimits.absences
      guard isAbsent || now - max(times[id] ?? start, start) > patience else { continue }
      guard !isReported(id, node, at: now) else { continue }
      reported[id] = (node.helloSequence, now)
      messages.append(
        NodeMessage(id: id, .lost(hello: node.helloSequence, attributes: hello, by: excluded)))
    }
    discardNodes(exceptOf: fold)
    return messages.sorted { $0.id < $1.id }
  }

  /// Discards what belongs to nodes that the fold does not have any longer.
  private mutating func discardNodes(exceptOf fold: FleetFold) {
    guard max(hellos.count, times.count) > fold.nodes.count else { return }
    hellos = hellos.filter { fold.nodes[$0.key] != nil }
    times = times.filter { fold.nodes[$0.key] != nil }
    reported = reported.filter { fold.nodes[$0.key] != nil }
    absences = absences.filter { fold.nodes[$0.key] != nil }
  }
}
