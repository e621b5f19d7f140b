internal import NetworkReachability
internal import ReachabilityModel

extension ScheduleState {
  /// Applies the result of a run.
  ///
  /// - Parameters:
  ///   - run: the run.
  ///   - result: its result.
  ///   - settle: how long a route must be missing that the kernel has not reported missing.
  ///   - now: when the run ended.
  /// - Returns: the effect of the result.
  mutating func finish(
    _ run: CheckRun, _ result: CheckResult, settle: @autoclosure () -> Duration = .zero, at now: ScheduleMoment
  ) -> CheckEffect {
    stalls.heartbeat(at: now.uptime)
    let entry = run.entry
    guard case .running(run.number, let start, let slot) = entry.activity else { return .ignored }
    release(slot, of: entry)
    entry.activity = .idle
    // With every result: one that does not count is followed by another check.
    defer { dependencies.continueQuestion(entry.definition.id, entries, ledger, at: now.uptime) }
    let isUnreliable = result.state != .up && (entry.isUnreliable || stalls.overlaps(start))
    entry.isUnreliable = false
    let definition = entry.report.sharedDefinition.value
    statistics.modules[definition.module.name, default: .init()].record(result)
    if isUnreliable, entry.route == .available, entry.retries < Limits.retries {
      entry.retries += 1
      statistics.retries += 1
      enqueue(entry, due: now.uptime)
      return .retried
    }
    entry.retries = 0
    if result.reason == .cancelled { return .accepted(nil) }
    // The kernel's report about the route is newer than the result of a check that began before it.
    if entry.route == .missing, result.state != .unreachable { return .contradicted }
    if isSettling(entry, result, settle: settle(), at: now) { return .settling }
    noteParent(entry, result, begun: start)
    let targetChange = take(result, entry, definition, at: now)
    if entry.needsFastCheck(isBroken: dependencies.root(of: definition.id, in: entries) != nil) {
      let next = max(now.uptime, start + ledger.fastInterval(definition, entry.account))
      // Not a reserved check: without credit, the next check is the regular one.
      if next < entry.due, ledger.admit(1, for: entry.account, at: now.uptime) == .admitted { plan(entry, at: next) }
    }
    return .accepted(targetChange)
  }

  /// Whether only checks have found the route missing, for less than the settle time; the target is checked again at its end.
  ///
  /// A replaced route is not an outage, and the kernel reports a real one within that time.
  private mutating func isSettling(
    _ entry: ScheduleEntry, _ result: CheckResult, settle: @autoclosure () -> Duration, at now: ScheduleMoment
  ) -> Bool {
    guard result.state == .unreachable, entry.route == .available, entry.report.status.state != .unreachable else {
      entry.missingSince = nil
      return false
    }
    let since = entry.missingSince ?? now.uptime
    let end = since + settle()
    guard now.uptime < end else {
      entry.missingSince = nil
      return false
    }
    entry.missingSince = since
    statistics.retries += 1
    if end < entry.due { plan(entry, at: end) }
    return true
  }

  /// Applies the kernel's report about the route to a target: a loss changes its state immediately, any other change causes a
  /// check, and the return of the route ends a check in progress.
  ///
  /// - Parameters:
  ///   - id: the target.
  ///   - verdict: the verdict for its host.
  ///   - isFirst: whether it is the first verdict after registration.
  ///   - causes: the causes that the kernel reported.
  ///   - reachesNameServer: whether any name server has a route.
  ///   - now: the present time.
  /// - Returns: the change of the target's state, if any.
  mutating func routeChanged(
    _ id: String, _ verdict: HostVerdict, isFirst: Bool, _ causes: Set<Cause>, reachesNameServer: Bool = true,
    at now: ScheduleMoment
  ) -> EngineTargetChange? {
    guard let entry = entries[id] else { return nil }
    let isMissing = CheckRules.isRouteMissing(verdict, reachesNameServer)
    let route: ScheduleEntry.RouteState =
      isMissing ? verdict.phase == .resolved ? .missing : .unresolvable : .available
    let (wasAvailable, addresses) = (entry.route == .available, entry.addresses)
    let parentState = parentState(id)
    entry.route = route
    parentChanged(id, from: parentState, at: now)
    entry.hasRoute = verdict.path.status.isReachable
    entry.missingSince = nil
    if case .name = verdict.target.remote { entry.addresses = verdict.addresses.map(\.address) }
    guard !entry.definition.isPaused else { return nil }
    // The name may be in the hosts file, which the first check, already queued, will find.
    if isFirst, route == .unresolvable { return nil }
    if isMissing { return entry.change(causes, at: now) { $0.loseRoute(verdict.path.reason, at: now.time) } }
    // The first verdict after registration is not a change.
    if isFirst, wasAvailable { return nil }
    // Some servers return varying parts of a long list: as long as one address stays, the route has not changed. But one of
    // the new addresses may end an outage.
    let isSameHost = verdict.addresses.contains { addresses.contains($0.address) }
    if causes == [.dnsChanged], wasAvailable, isSameHost {
      if entry.report.status.state != .up { enqueue(entry, due: now.uptime) }
      return nil
    }
    if case .running(let run, _, let slot) = entry.activity {
      if wasAvailable || entry.retries >= Limits.retries {
        entry.isUnreliable = true
      } else {
        restart(entry, run, slot)
        dependencies.continueQuestion(id, entries, ledger, at: now.uptime)
      }
    }
    enqueue(entry, due: now.uptime)
    return nil
  }

  /// Ends a check whose route was missing meanwhile, or a parent: what it sent or what it waits for is lost, and it would occupy the target
  /// until its timeout.
  mutating func restart(_ entry: ScheduleEntry, _ run: Int, _ slot: ScheduleEntry.Slot) {
    outdatedRuns.append(CheckRun(entry: entry, number: run))
    release(slot, of: entry)
    entry.activity = .idle
    entry.isUnreliable = false
    entry.retries += 1
    statistics.retries += 1
  }

  /// The checks to cancel after ``routeChanged(_:_:isFirst:_:reachesNameServer:at:)``.
  mutating func takeOutdatedRuns() -> [CheckRun] {
    defer { outdatedRuns = [] }
    return outdatedRuns
  }
}
