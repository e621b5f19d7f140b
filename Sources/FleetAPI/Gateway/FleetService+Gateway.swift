internal import Dispatch
internal import Locks
internal import ReachabilityFleet
internal import ReachabilityModel

extension FleetService: GatewayRosterSource {
  func isReplica(_ id: String) -> Bool {
    self.id == id || state.withLock { $0.replica.fold.nodes[id]?.hello?.role == .replica }
  }

  func confirmation(of agent: String) -> (hello: UInt64?, roster: GatewayConfirmation.Roster?) {
    let now = Self.now
    return state.withLock { state in
      let node = state.replica.fold.nodes[agent]
      let hello = node.flatMap { $0.isAgent && $0.state == .present ? $0.helloSequence : nil }
      guard state.replica.rosterAge(at: now) != nil else { return (hello, nil) }
      return (hello, state.rosters.identity(of: agent, in: state.replica.fold))
    }
  }

  func checks(of agent: String) -> (roster: GatewayConfirmation.Roster, checks: [TargetSpec])? {
    let now = Self.now
    return state.withLock { state in
      guard state.replica.rosterAge(at: now) != nil else { return nil }
      let fold = state.replica.fold
      return (state.rosters.identity(of: agent, in: fold), FleetRoster(fold, of: agent).checks)
    }
  }

  func ended(_ ids: [String], of agent: String) -> [String]? {
    let now = Self.now
    return state.withLock { state in
      state.replica.rosterAge(at: now).map { FleetRoster(state.replica.fold, of: agent).ended(ids, readFor: $0) }
    }
  }

  // MARK: - Hints

  /// Sends a hint to the agents for which what they check has changed, at most one a second to each.
  func sendHints() {
    let now = Self.now
    let agents = state.withLock { state -> [String] in
      guard !state.replica.fold.rosterChanges.isEmpty, !state.hasHintTimer else { return [] }
      let wait = state.hintTime + GatewayLimits.hintInterval - now
      guard wait <= .zero else {
        state.hasHintTimer = true
        queue.asyncAfter(deadline: .now() + wait.timeInterval) { [weak self] in
          self?.state.withLock { $0.hasHintTimer = false }
          self?.sendHints()
        }
        return []
      }
      state.hintTime = now
      let replicas = state.replica.fold.presentReplicas
      let nodes = state.replica.fold.nodes
      return state.replica.takeChangedRosters(at: now).filter {
        // The others would send the same.
        nodes[$0]?.isAgent == true && FleetRendezvousHash.rank(of: id, among: replicas, for: $0) == 0
      }
    }
    for agent in agents { members.send([], on: .changed(agent)) }
  }
}

/// The identities of the lists of what agents check, which are computed again only when some list has changed.
struct FleetRosterHashes {
  private var hashes: [String: String] = [:]
  private var version: UInt64 = 0

  mutating func identity(of agent: String, in fold: FleetFold) -> GatewayConfirmation.Roster {
    if version != fold.rosterChanges.version { (version, hashes) = (fold.rosterChanges.version, [:]) }
    let hash = hashes[agent] ?? FleetRoster(fold, of: agent).hash
    hashes[agent] = hash
    return .init(position: fold.position, hash: hash)
  }
}
