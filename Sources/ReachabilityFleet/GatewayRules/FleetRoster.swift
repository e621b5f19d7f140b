public import ReachabilityModel

/// What one agent checks, as a fold says.
public struct FleetRoster: Sendable {
  private let fold: FleetFold
  private let agent: String

  /// Creates it from the present state.
  public init(_ fold: FleetFold, of agent: String) {
    self.fold = fold
    self.agent = agent
  }

  /// The targets that are assigned to the agent, and other agents; sorted by id.
  public var checks: [TargetSpec] {
    var checks: [TargetSpec] = []
    for (id, target) in fold.targets where target.isAssigned(agent) {
      var spec = target.definition.spec
      spec.id = id
      // Agents report what they see; replicas judge it.
      spec.dependsOn = []
      checks.append(spec)
    }
    for (id, address) in fold.meshTargets(of: agent) {
      var spec = TargetSpec()
      spec.id = id
      spec.target = address
      spec.interval = FleetMesh.interval
      checks.append(spec)
    }
    return checks.sorted { $0.id ?? "" < $1.id ?? "" }
  }

  /// The hash of what the agent checks.
  public var hash: String {
    var hash = FleetHash()
    for spec in checks {
      for text in [spec.id, spec.target, spec.module] { hash.add(text ?? "") }
      for (name, value) in spec.labels.sorted(by: { $0.key < $1.key }) {
        hash.add(name)
        hash.add(value)
      }
      hash.add("")
      for duration in [spec.interval, spec.timeout, spec.fastInterval] { hash.add(duration.map { "\($0)" } ?? "") }
      for count in [spec.fall, spec.rise] { hash.add(UInt64(bitPattern: Int64(count ?? -1))) }
      hash.add(spec.isPaused ? "paused" : "")
    }
    return String(hash.value, radix: 16)
  }

  /// The checks that the agent has to end, of those that ``checks`` does not have.
  ///
  /// - Parameters:
  ///   - ids: the ids of the checks.
  ///   - age: how long ago everything that the stream had was read.
  /// - Returns: targets that were deleted or are assigned to others; checks of other agents, when the stream had the time to
  ///   get the `hello` of each; and targets that were deleted so long ago that the stream has dropped the deletion: their
  ///   definitions would have been restated.
  public func ended(_ ids: [String], readFor age: Duration) -> [String] {
    let mesh = age > FleetLimits.handOver ? fold.meshTargets(of: agent) : nil
    return ids.filter { id in
      if FleetMesh.agent(of: id) != nil { return mesh.map { $0[id] == nil } ?? false }
      if let target = fold.targets[id] { return !target.isAssigned(agent) }
      return fold.deleted[id] != nil || age > FleetLimits.streamAge
    }
  }
}

/// The agents for which what they check has changed.
public struct FleetRosterChanges: Sendable {
  /// The agents since ``take()``.
  private var agents: Set<String> = []
  /// Another number after each change.
  public private(set) var version: UInt64 = 0

  /// Whether ``take()`` has some.
  public var isEmpty: Bool { agents.isEmpty }

  /// Notes that what agents check has changed.
  mutating func mark(_ changed: some Sequence<String>) {
    agents.formUnion(changed)
    version &+= 1
  }

  /// The agents; each once.
  public mutating func take() -> Set<String> {
    defer { agents = [] }
    return agents
  }
}
