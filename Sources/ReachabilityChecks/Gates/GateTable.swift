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
  }

  private var gates: [String: GateEntry] = [:]
  private var index = GateIndex()
  /// The gates to evaluate.
  private var touched: Set<String> = []
  /// The gates that were too large and may not be any more, and when their members are counted again.
  private var uncounted: Set<String> = []
  private var recountTime: Duration?
  /// The gates that wait until they may open.
  private var waiting: [String: Duration] = [:]
  /// The gates whose documents have changed since ``takeChanged()``.
  private var changed: Set<String> = []
  private var revision: UInt64 = 0
  /// The gates of an earlier process that were not configured yet.
  private var restored: [String: RestoredGate] = [:]

  /// Whether there is no gate.
  var isEmpty: Bool { gates.isEmpty }
  /// The number of gates.
  var count: Int { gates.count }
  /// The ids, in order.
  var ids: [String] { gates.keys.sorted() }
  /// The next time to decide; nil for none.
  var nextDeadline: Duration? { (waiting.values + [recountTime].compactMap(\.self)).min() }

  // MARK: - Gates

  /// Adds or changes a gate, whose members follow by ``update(_:_:)``.
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
    touched.insert(id)
    changed.insert(id)
  }

  /// Removes a gate.
  mutating func remove(_ id: String) {
    removeFromIndex(id)
    gates[id] = nil
    changed.insert(id)
  }

  private mutating func removeFromIndex(_ id: String) {
    guard let gate = gates[id] else { return }
    index.remove(gate.definition, members: gate.members.states.keys)
    for path in [\GateTable.touched, \.uncounted] { self[keyPath: path].remove(id) }
    waiting[id] = nil
  }

  /// The definition and the origin of a gate; nil for none.
  func definition(of id: String) -> (definition: GateDefinition, origin: TargetOrigin, revision: UInt64)? {
    gates[id].map { ($0.definition, $0.origin, $0.revision) }
  }

  // MARK: - Members

  /// Applies what has become of a target; nil when it is not registered any more.
  mutating func update(_ id: String, _ target: Target?) {
    guard !gates.isEmpty else { return }
    for gate in index.gates(naming: id) where gates[gate]?.members.set(id, target?.state) == true {
      touched.insert(gate)
    }
    let after = target.map { index.gates(selecting: id, $0) } ?? []
    for gate in index.gates(with: id).subtracting(after) {
      if gates[gate]?.members.set(id, nil) == true { touched.insert(gate) }
      index.deselect(id, from: gate)
    }
    for gate in after { select(id, target?.state, for: gate) }
    if target == nil { recountLater() }
  }

  /// Applies the state of a target whose definition is unchanged.
  mutating func setState(_ id: String, _ state: GateMemberState) {
    for gate in index.gates(naming: id).union(index.gates(with: id))
    where gates[gate]?.members.set(id, state) == true { touched.insert(gate) }
  }

  /// Has the members of gates that are too large counted again, because one of them may have left.
  mutating func recountLater() {
    for (gate, entry) in gates where entry.isTooLarge { uncounted.insert(gate) }
  }

  private mutating func select(_ id: String, _ state: GateMemberState?, for gate: String) {
    // The members are not held here, because a change would copy them.
    guard gates[gate]?.isTooLarge == false, let count = gates[gate]?.members.states.count else { return }
    guard count < Limits.gateMembers || gates[gate]?.members.states[id] != nil else {
      for member in gates[gate]?.members.states.keys.map(\.self) ?? [] { index.deselect(member, from: gate) }
      gates[gate]?.members.removeSelected()
      gates[gate]?.isTooLarge = true
      touched.insert(gate)
      return
    }
    if gates[gate]?.members.set(id, state) == true { touched.insert(gate) }
    index.select(id, for: gate)
  }

  /// Begins to count the members of gates that were too large; ``update(_:_:)`` follows for each target.
  ///
  /// - Returns: whether there are such gates, and it is time.
  mutating func beginRecount(at now: Duration) -> Bool {
    guard let time = recountTime, time <= now else { return false }
    recountTime = nil
    for gate in uncounted {
      gates[gate]?.isTooLarge = false
      touched.insert(gate)
    }
    defer { uncounted = [] }
    return !uncounted.isEmpty
  }

  // MARK: - Decisions

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
    if !uncounted.isEmpty { recountTime = recountTime ?? now.uptime + Limits.gateRecount }
    let due = waiting.filter { $0.value <= now.uptime }.keys
    let ids = all ? Set(gates.keys) : touched.union(due)
    guard !ids.isEmpty else { return [] }
    defer { touched = [] }
    let machine = machine()
    return ids.sorted().compactMap { id in evaluate(id, machine, causes, at: now) }
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

  // MARK: - Reports

  /// The report of a gate; nil when there is none.
  func report(of id: String) -> GateReport? { gates[id]?.report }

  /// The members of a gate with their states, by id; nil when there is no such gate.
  func members(of id: String) -> [String: GateMemberState]? { gates[id]?.members.states }

  // MARK: - Restoring

  /// Keeps the gates of an earlier process until they are configured.
  mutating func restore(_ gates: [RestoredGate]) {
    for gate in gates { restored[gate.definition.id] = gate }
  }

  /// The state of a gate in an earlier process; nil when it is configured, or when there was none.
  func restoredState(of id: String) -> GateState? { restored[id]?.state }

  /// The gates of an earlier process that were not configured yet, in order.
  var restoredGates: [RestoredGate] { restored.values.sorted { $0.definition.id < $1.definition.id } }

  /// Forgets the gates of the configuration that it has lost since the earlier process.
  mutating func forgetRestored() { restored = [:] }
}
