internal import Dispatch
internal import Locks
internal import Logging
internal import ReachabilityChecks
internal import ReachabilityFleet
internal import FleetAPI
internal import StatusAPI

/// Keeps the schedule's fleet targets equal to the list that replicas compute for this agent.
///
/// Absence from the list ends nothing: the agent asks what became of a check that the list does not have, and ends it if the
/// target was deleted or is assigned to others.
final class FleetAgentTargets: Sendable {
  private struct State: Sendable {
    /// The list that the schedule has; nil before the first.
    var roster: GatewayConfirmation.Roster?
    /// The pages of a list that is being read.
    var pages: [TargetSpec] = []
    var isReading = false
    /// The ids of the list that the schedule has.
    var listed: Set<String> = []
    /// The ids of targets whose definitions were refused, with the reason, so that each is logged once.
    var refused: [String: String] = [:]
  }

  private let gateway: FleetGatewayClient
  private let service: StatusService
  private let schedule: CheckSchedule
  private let logger: Logger
  private let state = Locked(State())
  private let queue = DispatchQueue(label: "targets")

  init(_ gateway: FleetGatewayClient, _ service: StatusService, _ logger: Logger) {
    self.gateway = gateway
    self.service = service
    schedule = service.schedule
    self.logger = logger
  }

  /// The targets of the fleet that are checked here.
  var count: Int { schedule.reports(where: { $0.origin == .fleet }).count }

  /// The hash of the list that is checked; nil before the first.
  var hash: String? { state.withLock { $0.roster?.hash } }

  /// Reads the list if it is another one than is checked.
  ///
  /// - Parameters:
  ///   - roster: what a replica knows; it may have read less than the one before it.
  ///   - stream: the state of the stream.
  func compare(_ roster: GatewayConfirmation.Roster, in stream: FleetEngineStreamState) {
    let reads = state.withLock { state -> Bool in
      guard !state.isReading, Self.isNews(roster, state.roster, stream) else { return false }
      if state.roster?.hash == roster.hash {
        state.roster = roster
        return false
      }
      state.isReading = true
      state.pages = []
      return true
    }
    if reads { read(after: nil, roster, stream) } else { review() }
  }

  /// Whether a list is at least as new as the one that is checked.
  private static func isNews(
    _ roster: GatewayConfirmation.Roster, _ known: GatewayConfirmation.Roster?, _ stream: FleetEngineStreamState
  ) -> Bool {
    guard roster.position.created == stream.created else { return false }
    guard let known, known.position.created == stream.created else { return true }
    // A stream that lost its end has lower sequences.
    return roster.position.sequence >= known.position.sequence || stream.last < known.position.sequence
  }

  private func read(after id: String?, _ wanted: GatewayConfirmation.Roster, _ stream: FleetEngineStreamState) {
    gateway.send(.roster(after: id)) { [weak self] result in
      guard let self else { return }
      guard case .success(.roster(let page)) = result, id == nil || page.roster.hash == wanted.hash,
        page.roster.position.created == stream.created
      else {
        // The list has changed meanwhile, or no replica answers: the next comparison begins again.
        return state.withLock { $0.isReading = false }
      }
      state.withLock { $0.pages += page.checks }
      if let next = page.next { return read(after: next, page.roster, stream) }
      let checks = state.withLock { state in
        state.isReading = false
        state.roster = page.roster
        defer { state.pages = [] }
        return state.pages
      }
      queue.async {
        self.register(checks)
        self.review()
      }
    }
  }

  /// Asks what became of checks that the list does not have.
  private func review() {
    queue.async { [self] in
      guard state.withLock({ $0.roster != nil && !$0.isReading }) else { return }
      let ids = schedule.reports(where: { $0.origin == .fleet }).map(\.definition.id)
      let listed = state.withLock(\.listed)
      let missing = ids.filter { !listed.contains($0) }.sorted().prefix(GatewayLimits.missingTargets)
      guard !missing.isEmpty else { return }
      gateway.send(.missing(Array(missing))) { [weak self] result in
        guard let self, case .success(.missing(let ended)) = result else { return }
        // What was listed again since stays.
        queue.async { self.end(Set(ended).intersection(missing).subtracting(self.state.withLock(\.listed))) }
      }
    }
  }

  private func end(_ ids: Set<String>) {
    for id in ids { try? schedule.remove(id, origin: .fleet) }
  }

  private func register(_ checks: [TargetSpec]) {
    var definitions: [TargetDefinition] = []
    for spec in checks {
      do throws(TargetSpec.Faults) {
        definitions.append(try spec.definition(modules: service.modules))
      } catch {
        note(error.faults.first.map { "\($0.field.rawValue): \($0)" } ?? "invalid", of: spec.id ?? "")
      }
    }
    let ids = Set(checks.compactMap(\.id))
    state.withLock { state in
      state.refused = state.refused.filter { ids.contains($0.key) }
      state.listed = ids
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
