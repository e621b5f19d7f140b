internal import Dispatch
internal import Locks
internal import Logging
internal import NetworkReachability
internal import ReachabilityChecks
internal import ReachabilityFleet
internal import StatusAPI

/// Keeps the schedule's fleet targets equal to those that the stream places on this agent, and to the other agents that
/// it checks.
///
/// It folds nodes and definitions as replicas do. What the stream does not say changes nothing: a target ends when its
/// deletion or another placement is read, not when the stream is empty. The check of another agent ends when the stream
/// has not had that agent for some time.
final class AgentTargets: Sendable {
  private struct State: Sendable {
    var fold: FleetFold
    /// Whether everything that the stream had was read.
    var isComplete = false
    var isDirty = false
    /// When the fold began.
    var start = ContinuousClock.now
    /// The ids of targets whose definitions were refused, with the reason, so that each is logged once.
    var refused: [String: String] = [:]
    var onLost: (@Sendable (UInt64) -> Void)?
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

  /// Begins again with another stream; the schedule keeps its targets until the stream says otherwise.
  func restart(created: Int64) {
    state.withLock { state in
      state.fold = FleetFold(created: created)
      state.isComplete = false
      state.start = .now
    }
  }

  /// Takes the next message about nodes or targets.
  func receive(_ delivery: Delivery) {
    guard case .message(let stored, let pending) = delivery else { return }
    let message = FleetWire.decode(stored.payload, subject: stored.subject)
    let lost = state.withLock { state -> (sequence: UInt64, observer: (@Sendable (UInt64) -> Void)?)? in
      _ = state.fold.apply(message, sequence: stored.sequence, time: stored.time)
      state.isComplete = state.isComplete || pending == 0
      state.isDirty = true
      guard case .node(let node)? = message, node.id == id, case .lost(let hello, _, _) = node.content else {
        return nil
      }
      return (hello, state.onLost)
    }
    if let lost { lost.observer?(lost.sequence) }
    // Thousands of messages at the start lead to one comparison.
    if pending == 0 { queue.async { self.apply() } }
  }

  /// Ends the checks of agents that the stream does not have; it has had the time to get their `hello`.
  func review() {
    queue.async { [self] in
      let mesh = state.withLock { state -> [String: String]? in
        let isSettled = state.isComplete && .now - state.start > FleetLimits.handOver
        return isSettled ? state.fold.meshTargets(of: id) : nil
      }
      guard let mesh else { return }
      endChecks { Mesh.agent(of: $0) != nil && mesh[$0] == nil }
    }
  }

  private struct Change: Sendable {
    var placed: [(id: String, spec: TargetSpec)] = []
    var ended: Set<String> = []
  }

  /// Registers what is placed here, and removes what is deleted or placed elsewhere.
  private func apply() {
    let change = state.withLock { state -> Change? in
      guard state.isComplete, state.isDirty else { return nil }
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
        spec.interval = Mesh.interval
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
