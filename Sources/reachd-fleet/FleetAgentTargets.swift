internal import Dispatch
internal import Locks
internal import Logging
internal import NetworkReachability
internal import ReachabilityChecks
internal import ReachabilityFleet
internal import FleetAPI
internal import StatusAPI

/// Keeps the schedule's fleet targets equal to those that the stream places on this agent, and to the other agents that
/// it checks.
///
/// It folds nodes and definitions as replicas do. What the stream does not say changes nothing: a target ends when its
/// deletion or another placement is read, not when the stream is empty. The check of another agent ends when the stream
/// has not had that agent for some time, and that of a target when it has not had its definition for longer than a
/// deletion is stored.
final class FleetAgentTargets: Sendable {
  private struct State: Sendable {
    var fold: FleetFold
    var tail = FleetStreamTail()
    /// When everything that the stream had was read; nil before that.
    var completion: ContinuousClock.Instant?
    var isDirty = false
    /// The ids of targets whose definitions were refused, with the reason, so that each is logged once.
    var refused: [String: String] = [:]
    var onLost: (@Sendable (UInt64) -> Void)?

    /// Begins again; the schedule keeps its targets until the stream says otherwise.
    mutating func restart(created: Int64) {
      fold = FleetFold(created: created)
      tail = FleetStreamTail()
      completion = nil
    }

    private mutating func complete() { completion = completion ?? .now }

    mutating func take(_ message: FleetMessage?, _ stored: FleetEngineStoredMessage, _ pending: UInt64)
      -> FleetStreamTail.Step
    {
      let step = tail.take(stored)
      switch step {
      case .fork: restart(created: fold.created)
      case .next:
        _ = fold.apply(message, sequence: stored.sequence, time: stored.time)
        isDirty = true
        if pending == 0 { complete() }
      case .known: if pending == 0 { complete() }
      }
      return step
    }
  }

  private let id: String
  private let service: StatusService
  private let schedule: CheckSchedule
  private let logger: Logger
  private let state: Locked<State>
  private let queue = DispatchQueue(label: "targets")

  init(_ id: String, _ service: StatusService, _ logger: Logger) {
    self.id = id
    self.service = service
    schedule = service.schedule
    self.logger = logger
    state = Locked(State(fold: FleetFold(created: 0)))
  }

  /// The targets of the fleet that are checked here.
  var count: Int { schedule.reports(where: { $0.origin == .fleet }).count }

  /// Called with the sequence of the `hello` that a replica's `lost` ends.
  func onLost(_ observer: @escaping @Sendable (UInt64) -> Void) { state.withLock { $0.onLost = observer } }

  /// The last message that was read.
  var sequence: UInt64 { state.withLock(\.tail.sequence) }

  /// Whether the stream is another one than was read; then everything is read again.
  ///
  /// - Parameters:
  ///   - stream: the engine's answer.
  ///   - sequence: ``sequence`` at the time of the request.
  /// - Returns: whether the fold began again.
  func isOther(_ stream: FleetEngineStreamState, requestedAt sequence: UInt64) -> Bool {
    state.withLock { state in
      guard state.fold.created != stream.created || state.tail.isBeyond(stream, requestedAt: sequence) else {
        return false
      }
      state.restart(created: stream.created)
      return true
    }
  }

  /// Where to read from: the last message again, because it may be another one after a loss.
  var start: UInt64 { state.withLock(\.tail.start) }

  /// Takes the next message about nodes or targets.
  ///
  /// - Returns: false when another message has the place of the last one, so that everything has to be read again.
  func receive(_ delivery: FleetEngineDelivery) -> Bool {
    guard case .message(let stored, let pending) = delivery else { return true }
    let message = FleetWire.decode(stored.payload, subject: stored.subject)
    let (step, report) = state.withLock { state in (state.take(message, stored, pending), state.onLost) }
    if step == .next, case .node(let node)? = message, node.id == id, case .lost(let hello, _, _) = node.content {
      report?(hello)
    }
    // Thousands of messages at the start lead to one comparison.
    if pending == 0 { queue.async { self.apply() } }
    return step != .fork
  }

  /// Ends the checks that the stream has not had for some time.
  func review() {
    queue.async { [self] in
      let checked = schedule.reports(where: { $0.origin == .fleet }).map(\.definition.id)
      let ended = state.withLock { state in
        state.completion.map { state.fold.endedChecks(of: id, among: checked, readFor: .now - $0) } ?? []
      }
      endChecks(ended.contains)
    }
  }

  private struct Change: Sendable {
    var placed: [(id: String, spec: TargetSpec)] = []
    var ended: Set<String> = []
  }

  /// Registers what is placed here, and removes what is deleted or placed elsewhere.
  private func apply() {
    let change = state.withLock { state -> Change? in
      guard state.completion != nil, state.isDirty else { return nil }
      state.isDirty = false
      var change = Change()
      for (target, folded) in state.fold.targets.sorted(by: { $0.key < $1.key }) {
        if folded.assigned.contains(id) {
          change.placed.append((target, folded.definition.spec))
        } else {
          change.ended.insert(target)
        }
      }
      change.ended.formUnion(state.fold.deleted.keys)
      for (target, address) in state.fold.meshTargets(of: id) {
        var spec = TargetSpec()
        spec.target = address
        spec.interval = FleetMesh.interval
        change.placed.append((target, spec))
      }
      return change
    }
    guard let change else { return }
    endChecks(change.ended.contains)
    register(change.placed)
  }

  private func endChecks(_ isEnded: (String) -> Bool) {
    for report in schedule.reports(where: { $0.origin == .fleet }) where isEnded(report.definition.id) {
      try? schedule.remove(report.definition.id, origin: .fleet)
    }
  }

  private func register(_ placed: [(id: String, spec: TargetSpec)]) {
    var definitions: [TargetDefinition] = []
    for (target, spec) in placed {
      var spec = spec
      spec.id = target
      do throws(TargetSpec.Faults) {
        definitions.append(try spec.definition(modules: service.modules))
      } catch {
        note(error.faults.first.map { "\($0.field.rawValue): \($0)" } ?? "invalid", of: target)
      }
    }
    let ids = Set(placed.map(\.id))
    state.withLock { state in state.refused = state.refused.filter { ids.contains($0.key) } }
    let results = schedule.put(definitions, origin: .fleet)
    for (definition, result) in zip(definitions, results) {
      if case .rejected(let error) = result {
        note("\(error)", of: definition.id)
      } else {
        note(nil, of: definition.id)
      }
    }
  }

  /// Logs why a target is not checked here, once for each reason.
  private func note(_ problem: String?, of target: String) {
    let isNew = state.withLock { state in
      defer { state.refused[target] = problem }
      return state.refused[target] != problem
    }
    guard isNew, let problem else { return }
    logger.error("a target of the fleet is not checked here", metadata: ["target": "\(target)", "error": "\(problem)"])
  }
}
