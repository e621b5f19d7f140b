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
    // A target that depends on another one of them is accepted wherever it is in the list.
    let results = DependencyRules.order(of: definitions).map { index in
      (index, put(definitions[index], origin, account, .none, isPublished: isPublished))
    }
    startDueChecks()
    return results.sorted { $0.0 < $1.0 }.map(\.1)
  }

  /// Requests the evaluation of new routes, and starts what is due.
  func startDueChecks() {
    guarded.withLock { rearm(&$0, now()) }
    monitor.refresh()
    reschedule()
  }

  private func put(
    _ definition: TargetDefinition, _ origin: TargetOrigin, _ account: TargetAccount?,
    _ precondition: TargetPrecondition, isPublished: Bool = true
  ) -> TargetPutResult {
    let effects = guarded.withLock {
      $0.put(definition, origin, account, precondition, isPublished: isPublished, at: now())
    }
    effects.run()
    return effects.result
  }

  /// Removes a target and cancels its check.
  ///
  /// - Parameters:
  ///   - id: the target.
  ///   - origin: the configuration, or a client.
  ///   - account: the client's account, whose rate of changes applies; nil for no limit.
  ///   - precondition: the condition for the change.
  ///   - removingDependencies: whether it is removed from the entries of targets that depend on it; otherwise they are an error.
  /// - Throws: a ``ScheduleChangeError`` when it is not registered, the precondition is not fulfilled, it belongs to the
  ///   configuration, others depend on it, or the account makes too many changes.
  public func remove(
    _ id: String, origin: TargetOrigin = .runtime, by account: TargetAccount? = nil,
    if precondition: TargetPrecondition = .none, removingDependencies: Bool = false
  ) throws(ScheduleChangeError) {
    let removal = guarded.withLock { registry in
      Result { () throws(ScheduleChangeError) in
        let (children, now) = (registry.state.dependencies.graph.children(of: id), now())
        let removal = try registry.remove(
          id, origin, account, precondition, removingDependencies: removingDependencies, at: now)
        let others = removingDependencies ? registry.removeInvalidDependencies(of: children, at: now).effects : []
        return (removal, others)
      }
    }
    let (effects, others) = try removal.get()
    effects.run()
    for effect in others { effect() }
    startDueChecks()
  }

  /// Pauses or resumes a target, also one of the configuration; nil when it is not registered.
  public func pause(_ id: String, _ isPaused: Bool = true) -> TargetReport? {
    try? pause(id, isPaused, if: .none)
  }

  /// Pauses or resumes a target, also one of the configuration.
  ///
  /// - Parameters:
  ///   - id: the target.
  ///   - isPaused: whether its checks are suspended.
  ///   - account: the client's account, whose rate of changes applies; nil for no limit.
  ///   - precondition: the condition for the change.
  /// - Returns: the target after the change.
  /// - Throws: a ``ScheduleChangeError`` when it is not registered, the precondition is not fulfilled, or the account makes
  ///   too many changes.
  public func pause(
    _ id: String, _ isPaused: Bool = true, by account: TargetAccount? = nil, if precondition: TargetPrecondition
  ) throws(ScheduleChangeError) -> TargetReport {
    guard let old = report(of: id) else { throw .missing }
    guard precondition.isFulfilled(by: old.revision) else { throw .precondition }
    guard old.definition.isPaused != isPaused else { return old }
    if let account, let error = guarded.withLock({ $0.admitChange(by: account, at: now()) }) {
      throw error
    }
    var definition = old.definition
    definition.isPaused = isPaused
    switch put(definition, origin: old.origin, if: .revisions([old.revision])) {
    case .created(let report), .replaced(let report): return report
    // The target was changed concurrently: repeat with its new definition.
    case .rejected: return try pause(id, isPaused, by: account, if: precondition)
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
      guarded.state.enqueue(entry, due: now.uptime)
      rearm(&guarded, now)
      return true
    }
    if isQueued { reschedule() }
    return isQueued
  }
}
