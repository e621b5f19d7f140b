internal import NetworkReachability
internal import ReachabilityModel

/// The gates of a service with their members: a value without a lock, which decides what changes.
///
/// The cost of a change of a target is that of the gates which have it, found by its id and its labels.
struct GateTable {
  /// What a gate depends on of a registered target.
  struct Target {
    var labels: [String: String]
    var origin: TargetOrigin
    var state: GateMemberState

    /// Whether the same gates select it as before.
    func isSelected(as old: Target?) -> Bool { old?.labels == labels && old?.origin == origin }
  }

  var gates: [String: GateEntry] = [:]
  var index = GateIndex()
  /// All registered targets while there are gates.
  var targets = GateTargets()
  /// The gates to evaluate.
  var touched: Set<String> = []
  /// The gates that were too large and may not be any more, and when their members are counted again.
  var uncounted: Set<String> = []
  private var recountTime: Duration?
  /// The gates that wait until they may open.
  private var waiting: [String: Duration] = [:]
  /// The gates whose documents have changed since ``takeChanged()``.
  private var changed: Set<String> = []
  private var revision: UInt64 = 0
  /// Whether nothing is decided, because a configuration is applied target by target.
  private(set) var isHeld = false
  /// The gates of an earlier process that were not configured yet.
  private var restored: [String: RestoredGate] = [:]

  /// Whether there is no gate.
  var isEmpty: Bool { gates.isEmpty }
  /// The number of gates.
  var count: Int { gates.count }
  /// The number of targets that all gates name.
  var nameCount: Int { gates.values.reduce(0) { $0 + $1.definition.targets.count } }
  /// The ids, in order.
  var ids: [String] { gates.keys.sorted() }
  /// The next time to decide; nil for none.
  var nextDeadline: Duration? { isHeld ? nil : (waiting.values + [recountTime].compactMap(\.self)).min() }

  // MARK: - Gates

  /// Adds or changes a gate.
  mutating func put(_ definition: GateDefinition, _ origin: TargetOrigin, at now: ScheduleMoment) {
    revision += 1
    let id = definition.id
    let old = gates[id]
    let kept = restored.removeValue(forKey: id)
    if old != nil { removeFromIndex(id) }
    let state =
      old?.state ?? kept.map { GateSwitch(restoring: $0.state, since: $0.since) } ?? GateSwitch(at: now.time)
    gates[id] = GateEntry(
      definition, origin, revision: revision, changes: old.map { $0.changes + 1 } ?? 0, state: state)
    index.insert(definition)
    collectMembers(of: definition)
    touched.insert(id)
    changed.insert(id)
  }

  /// Removes a gate.
  mutating func remove(_ id: String) {
    removeFromIndex(id)
    gates[id] = nil
    changed.insert(id)
    if gates.isEmpty { targets = GateTargets() }
  }

  private mutating func removeFromIndex(_ id: String) {
    guard let gate = gates[id] else { return }
    index.remove(gate.definition)
    for path in [\GateTable.touched, \.uncounted] { self[keyPath: path].remove(id) }
    waiting[id] = nil
  }

  /// The definition and the origin of a gate; nil for none.
  func definition(of id: String) -> (definition: GateDefinition, origin: TargetOrigin, revision: UInt64)? {
    gates[id].map { ($0.definition, $0.origin, $0.revision) }
  }

  // MARK: - Decisions

  /// Decides nothing until ``release()``.
  mutating func hold() { isHeld = true }

  /// Decides again, at the next ``evaluate(all:machine:_:at:)``.
  mutating func release() { isHeld = false }

  /// Decides about the gates whose members have changed, and those that wait for a time.
  ///
  /// - Parameters:
  ///   - all: whether to decide about every gate, because the machine's status may have changed.
  ///   - machine: this machine's status.
  ///   - causes: the causes of the changes.
  ///   - now: the present time.
  /// - Returns: the changes to publish, by the ids of the gates.
  mutating func evaluate(
    all: Bool = false, machine: @autoclosure () -> ReachabilityStatus, _ causes: Set<Cause>,
    at now: ScheduleMoment
  ) -> [EngineGateChange] {
    guard !isHeld else { return [] }
    recount(at: now.uptime)
    let due = waiting.filter { $0.value <= now.uptime }.keys
    let ids = all ? Set(gates.keys) : touched.union(due)
    guard !ids.isEmpty else { return [] }
    defer { touched = [] }
    let machine = machine()
    return ids.sorted().compactMap { id in evaluate(id, machine, causes, at: now) }
  }

  /// Counts the members of gates that were too large, some time after one has left: it takes about a millisecond each.
  private mutating func recount(at now: Duration) {
    guard !uncounted.isEmpty else { return }
    guard let time = recountTime, time <= now else {
      recountTime = recountTime ?? now + Limits.gateRecount
      return
    }
    for gate in uncounted {
      if let definition = gates[gate]?.definition { collectMembers(of: definition) }
      touched.insert(gate)
    }
    (uncounted, recountTime) = ([], nil)
  }

  private mutating func evaluate(
    _ id: String, _ machine: ReachabilityStatus, _ causes: Set<Cause>, at now: ScheduleMoment
  ) -> EngineGateChange? {
    guard let change = gates[id]?.decide(machine, isTouched: touched.contains(id), at: now), change.isChanged else {
      return nil
    }
    waiting[id] = gates[id]?.opening?.uptime
    changed.insert(id)
    guard let before = change.before, let report = report(of: id) else { return nil }
    return EngineGateChange(from: before, report: report, causes: causes)
  }

  /// The ids of the gates whose documents have changed since the last call.
  mutating func takeChanged() -> Set<String> {
    defer { changed = [] }
    return changed
  }

  // MARK: - Restoring

  /// Keeps the gates of an earlier process until they are configured.
  mutating func restore(_ gates: [RestoredGate]) {
    for gate in gates { restored[gate.definition.id] = gate }
  }

  /// A gate of an earlier process; nil when it is configured, or when there was none.
  func restoredGate(_ id: String) -> RestoredGate? { restored[id] }

  /// The gates of an earlier process that were not configured yet, in order.
  var restoredGates: [RestoredGate] { restored.values.sorted { $0.definition.id < $1.definition.id } }

  /// Forgets the gates of the configuration that it has lost since the earlier process.
  mutating func forgetRestored() { restored = [:] }
}
