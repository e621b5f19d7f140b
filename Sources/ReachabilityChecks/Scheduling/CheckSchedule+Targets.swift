internal import Locks
internal import NetworkReachability
public import ReachabilityModel

extension CheckSchedule {
  /// Registers a target, or changes it: what is known of it stays when target and module do.
  ///
  /// - Parameters:
  ///   - definition: the target.
  ///   - origin: who registers it.
  ///   - account: the caller's account; nil for the one that has the target, or the callers without a token.
  ///   - precondition: what must hold.
  /// - Returns: the result.
  @discardableResult
  public func put(
    _ definition: TargetDefinition, origin: TargetOrigin = .runtime, by account: TargetAccount? = nil,
    if precondition: Precondition = .none
  ) -> Placement {
    let placement = place(definition, origin, account, precondition)
    awaken()
    return placement
  }

  /// Registers targets, or changes them, each by itself.
  ///
  /// - Returns: what became of each, in their order.
  public func put(
    _ definitions: [TargetDefinition], origin: TargetOrigin = .runtime, by account: TargetAccount? = nil
  ) -> [Placement] {
    put(definitions, origin, by: account, isTold: true)
  }

  /// The same; `isTold` says whether new ones are news.
  func put(
    _ definitions: [TargetDefinition], _ origin: TargetOrigin, by account: TargetAccount? = nil, isTold: Bool
  ) -> [Placement] {
    let placements = definitions.map { place($0, origin, account, .none, isTold: isTold) }
    awaken()
    return placements
  }

  /// Has the kernel asked about new ways, and what is due begun.
  private func awaken() {
    guarded.withLock { rearm(&$0, now()) }
    monitor.refresh()
    hasten()
  }

  private func place(
    _ definition: TargetDefinition, _ origin: TargetOrigin, _ account: TargetAccount?, _ precondition: Precondition,
    isTold: Bool = true
  ) -> Placement {
    let deed = guarded.withLock { guarded in
      put(definition, origin, account, precondition, isTold: isTold, &guarded, now())
    }
    deed.tell()
    deed.cancellation?.cancel()
    for completion in deed.waiting { completion(nil) }
    return deed.placement
  }

  private struct Deed: Sendable {
    var placement: Placement
    var cancellation: (any ProbeCancellation)?
    /// Who waits for a result that does not come, because the target is paused.
    var waiting: [@Sendable (CheckOutcome?) -> Void] = []
    var tell: @Sendable () -> Void = {}
  }

  private func put(
    _ definition: TargetDefinition, _ origin: TargetOrigin, _ account: TargetAccount?, _ precondition: Precondition,
    isTold: Bool, _ guarded: inout Guarded, _ now: ScheduleState.Moment
  ) -> Deed {
    let definition = definition.bounded
    let old = guarded.state.entries[definition.id]?.report
    if let refusal = refusal(old, origin, precondition) { return Deed(placement: .refused(refusal)) }
    if origin == .runtime, let excess = guarded.state.excess(definition, by: account) {
      return Deed(placement: .refused(.quota(excess)))
    }
    let (news, cancelled) = guarded.state.put(definition, origin, by: account, at: now)
    guard let report = guarded.state.entries[definition.id]?.report else {
      return Deed(placement: .refused(.missing))
    }
    if let old {
      if old.definition.target.host != definition.target.host { follow(definition, instead: old.definition, &guarded) }
    } else {
      follow(definition, instead: nil, &guarded)
      guarded.order = nil
    }
    return Deed(
      placement: old == nil ? .created(report) : .replaced(report),
      cancellation: cancelled.flatMap { guarded.cancellations.removeValue(forKey: $0) },
      waiting: definition.isPaused ? guarded.waiting.removeValue(forKey: definition.id) ?? [] : [],
      // Numbered under this lock, so that the history has what became of a target in the order in which it was.
      tell: monitor.record(news.map { old != nil || isTold ? [$0] : [] } ?? [], at: now.time))
  }

  private func refusal(
    _ old: TargetReport?, _ origin: TargetOrigin, _ precondition: Precondition
  ) -> Refusal? {
    guard precondition.holds(of: old) else { return .precondition }
    if let old, old.origin == .configuration, origin == .runtime { return .configured }
    return nil
  }

  /// Watches the way to a target's host in place of the one before.
  private func follow(_ definition: TargetDefinition?, instead old: TargetDefinition?, _ guarded: inout Guarded) {
    if let definition {
      let way = definition.target.host
      let isNew = guarded.ways[way] == nil
      guarded.ways[way, default: []].insert(definition.id)
      // Somebody may watch it already: then its verdict is no news, and would not be heard.
      if isNew {
        monitor.watch(way, for: watcher, telling: sink)
      } else {
        monitor.tell(way, to: sink)
      }
    }
    if let old {
      let way = old.target.host
      guarded.ways[way]?.remove(old.id)
      if guarded.ways[way]?.isEmpty == true {
        guarded.ways[way] = nil
        monitor.unwatch(way, for: watcher)
      }
    }
  }

  /// Removes a target and ends its check.
  ///
  /// - Throws: a ``Refusal`` when it is not there, is not as it should be, or stands in the configuration.
  public func remove(
    _ id: String, origin: TargetOrigin = .runtime, if precondition: Precondition = .none
  ) throws(Refusal) {
    let removal = guarded.withLock { guarded -> Result<Deed, Refusal> in
      guard let old = guarded.state.entries[id]?.report else { return .failure(.missing) }
      if let refusal = self.refusal(old, origin, precondition) { return .failure(refusal) }
      let run = guarded.state.remove(id)
      follow(nil, instead: old.definition, &guarded)
      guarded.order = nil
      let news = TargetNews(from: old.status.state, report: old, causes: [.configuration], isRemoved: true)
      return .success(
        Deed(
          placement: .replaced(old), cancellation: run.flatMap { guarded.cancellations.removeValue(forKey: $0) },
          waiting: guarded.waiting.removeValue(forKey: id) ?? [],
          tell: monitor.record([news], at: now().time)))
    }
    let deed = try removal.get()
    deed.tell()
    deed.cancellation?.cancel()
    for completion in deed.waiting { completion(nil) }
  }

  /// Pauses a target or resumes it, also one of the configuration; nil when there is none.
  public func pause(_ id: String, _ isPaused: Bool = true) -> TargetReport? {
    try? pause(id, isPaused, if: .none)
  }

  /// Pauses a target or resumes it, also one of the configuration.
  ///
  /// - Throws: a ``Refusal`` when it is not there, or not as it should be.
  public func pause(
    _ id: String, _ isPaused: Bool = true, if precondition: Precondition
  ) throws(Refusal) -> TargetReport {
    guard let old = report(of: id) else { throw .missing }
    guard precondition.holds(of: old) else { throw .precondition }
    guard old.definition.isPaused != isPaused else { return old }
    var definition = old.definition
    definition.isPaused = isPaused
    switch put(definition, origin: old.origin, if: .revisions([old.revision])) {
    case .created(let report), .replaced(let report): return report
    // Somebody changed it in between: again, with what it is now.
    case .refused: return try pause(id, isPaused, if: precondition)
    }
  }

  /// Checks a target now, or shares the check that is under way; the result counts like any other.
  ///
  /// - Parameters:
  ///   - id: the target.
  ///   - completion: takes the outcome, on any thread; nil when the target was removed or paused before.
  /// - Returns: false when there is no such target, or it is paused: `completion` is not called then.
  public func check(_ id: String, _ completion: @escaping @Sendable (CheckOutcome?) -> Void) -> Bool {
    let isPossible = guarded.withLock { guarded in
      guard let entry = guarded.state.entries[id], !entry.definition.isPaused, !guarded.hasStopped else { return false }
      guarded.waiting[id, default: []].append(completion)
      let now = now()
      guarded.state.enqueue(id, due: now.uptime)
      rearm(&guarded, now)
      return true
    }
    if isPossible { hasten() }
    return isPossible
  }
}
