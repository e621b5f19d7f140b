internal import Locks
internal import NetworkReachability
public import ReachabilityModel

extension CheckSchedule {
  /// Registers or changes a target; its status is kept when target and module are unchanged.
  ///
  /// - Parameters:
  ///   - definition: the target.
  ///   - origin: the configuration, or a client.
  ///   - account: the client's account; nil for the account that has the target, or that of clients without a token.
  ///   - precondition: the condition for the change.
  /// - Returns: the result.
  @discardableResult
  public func put(
    _ definition: TargetDefinition, origin: TargetOrigin = .runtime, by account: TargetAccount? = nil,
    if precondition: TargetPrecondition = .none
  ) -> TargetPutResult {
    let result = put(definition, origin, account, precondition)
    startDueChecks()
    return result
  }

  /// Registers or changes targets independently of each other.
  ///
  /// - Returns: the result for each target, in their order.
  public func put(
    _ definitions: [TargetDefinition], origin: TargetOrigin = .runtime, by account: TargetAccount? = nil
  ) -> [TargetPutResult] {
    put(definitions, origin, by: account, isPublished: true)
  }

  /// As ``put(_:origin:by:)``; `isPublished` says whether new targets are published as changes.
  func put(
    _ definitions: [TargetDefinition], _ origin: TargetOrigin, by account: TargetAccount? = nil, isPublished: Bool
  ) -> [TargetPutResult] {
    let results = definitions.map { put($0, origin, account, .none, isPublished: isPublished) }
    startDueChecks()
    return results
  }

  /// Requests the evaluation of new routes, and starts what is due.
  private func startDueChecks() {
    guarded.withLock { rearm(&$0, now()) }
    monitor.refresh()
    reschedule()
  }

  private func put(
    _ definition: TargetDefinition, _ origin: TargetOrigin, _ account: TargetAccount?,
    _ precondition: TargetPrecondition, isPublished: Bool = true
  ) -> TargetPutResult {
    let effects = guarded.withLock { guarded in
      put(definition, origin, account, precondition, isPublished: isPublished, &guarded, now())
    }
    effects.run()
    return effects.result
  }

  /// The result of a change, and its effects, which run without the lock.
  private struct Effects: Sendable {
    var result: TargetPutResult
    var cancellation: (any CheckCancellation)?
    /// Callers whose result does not come, because the target was paused or removed.
    var waiting: [@Sendable (CheckOutcome?) -> Void] = []
    var publish: @Sendable () -> Void = {}

    func run() {
      publish()
      cancellation?.cancel()
      for completion in waiting { completion(nil) }
    }
  }

  private func put(
    _ definition: TargetDefinition, _ origin: TargetOrigin, _ account: TargetAccount?,
    _ precondition: TargetPrecondition, isPublished: Bool, _ guarded: inout Guarded, _ now: ScheduleState.Moment
  ) -> Effects {
    let definition = definition.bounded
    let old = guarded.state.entries[definition.id]?.report
    if let error = rejection(of: old, origin, precondition) { return Effects(result: .rejected(error)) }
    if origin == .runtime, let excess = guarded.state.excess(definition, by: account) {
      return Effects(result: .rejected(.quota(excess)))
    }
    let (change, cancelled) = guarded.state.put(definition, origin, by: account, at: now)
    guard let report = guarded.state.entries[definition.id]?.report else {
      return Effects(result: .rejected(.missing))
    }
    if let old {
      if old.definition.target.host != definition.target.host {
        guarded.routes.add(definition)
        guarded.routes.remove(old.definition)
      }
    } else {
      guarded.routes.add(definition)
      guarded.sortedIDs = nil
    }
    return Effects(
      result: old == nil ? .created(report) : .replaced(report),
      cancellation: cancelled.flatMap { guarded.cancellations.removeValue(forKey: $0) },
      waiting: definition.isPaused ? guarded.waiting.removeValue(forKey: definition.id) ?? [] : [],
      // Numbered under this lock, so that the changes of a target are published in order.
      publish: monitor.record(change.map { old != nil || isPublished ? [$0] : [] } ?? [], at: now.time))
  }

  private func rejection(
    of old: TargetReport?, _ origin: TargetOrigin, _ precondition: TargetPrecondition
  ) -> TargetChangeError? {
    guard precondition.isFulfilled(by: old) else { return .precondition }
    if let old, old.origin == .configuration, origin == .runtime { return .configured }
    return nil
  }

  /// Removes a target and cancels its check.
  ///
  /// - Throws: a ``TargetChangeError`` when it is not registered, the precondition is not fulfilled, or it belongs to the
  ///   configuration.
  public func remove(
    _ id: String, origin: TargetOrigin = .runtime, if precondition: TargetPrecondition = .none
  ) throws(TargetChangeError) {
    let removal = guarded.withLock { guarded -> Result<Effects, TargetChangeError> in
      guard let old = guarded.state.entries[id]?.report else { return .failure(.missing) }
      if let error = rejection(of: old, origin, precondition) { return .failure(error) }
      let run = guarded.state.remove(id)
      guarded.routes.remove(old.definition)
      guarded.sortedIDs = nil
      let change = TargetChange(from: old.status.state, report: old, causes: [.configuration], isRemoved: true)
      return .success(
        Effects(
          result: .replaced(old), cancellation: run.flatMap { guarded.cancellations.removeValue(forKey: $0) },
          waiting: guarded.waiting.removeValue(forKey: id) ?? [],
          publish: monitor.record([change], at: now().time)))
    }
    try removal.get().run()
  }

  /// Pauses or resumes a target, also one of the configuration; nil when it is not registered.
  public func pause(_ id: String, _ isPaused: Bool = true) -> TargetReport? {
    try? pause(id, isPaused, if: .none)
  }

  /// Pauses or resumes a target, also one of the configuration.
  ///
  /// - Throws: a ``TargetChangeError`` when it is not registered, or the precondition is not fulfilled.
  public func pause(
    _ id: String, _ isPaused: Bool = true, if precondition: TargetPrecondition
  ) throws(TargetChangeError) -> TargetReport {
    guard let old = report(of: id) else { throw .missing }
    guard precondition.isFulfilled(by: old) else { throw .precondition }
    guard old.definition.isPaused != isPaused else { return old }
    var definition = old.definition
    definition.isPaused = isPaused
    switch put(definition, origin: old.origin, if: .revisions([old.revision])) {
    case .created(let report), .replaced(let report): return report
    // The target was changed concurrently: repeat with its new definition.
    case .rejected: return try pause(id, isPaused, if: precondition)
    }
  }

  /// Checks a target now, or joins the running check; the result counts like any other.
  ///
  /// - Parameters:
  ///   - id: the target.
  ///   - completion: receives the outcome, on any thread; nil when the target is removed or paused before.
  /// - Returns: false when the target is not registered or is paused; `completion` is not called then.
  public func check(_ id: String, _ completion: @escaping @Sendable (CheckOutcome?) -> Void) -> Bool {
    let isQueued = guarded.withLock { guarded in
      guard let entry = guarded.state.entries[id], !entry.definition.isPaused, !guarded.hasStopped else { return false }
      guarded.waiting[id, default: []].append(completion)
      let now = now()
      guarded.state.enqueue(id, due: now.uptime)
      rearm(&guarded, now)
      return true
    }
    if isQueued { reschedule() }
    return isQueued
  }
}
