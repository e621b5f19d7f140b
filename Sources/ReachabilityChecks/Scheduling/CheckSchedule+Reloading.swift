internal import Locks
internal import NetworkReachability
public import ReachabilityModel

extension CheckSchedule {
  /// Replaces the targets of the configuration; targets that were added at run time stay.
  ///
  /// Unchanged targets keep their status,
  /// and those paused or resumed by clients stay so until the configuration changes that.
  ///
  /// The targets of the first configuration are not published as changes; those of later ones are.
  ///
  /// - Returns: the targets that were taken over.
  /// - Throws: the limit that they exceed together with the targets of clients; nothing has changed then.
  @discardableResult
  public func configure(_ definitions: [TargetDefinition]) throws(QuotaExcess) -> TargetConfigurationResult {
    try quota.reserve(definitions, quota.limits)
    defer { guarded.withLock { $0.state.ledger.release() } }
    let change = guarded.withLock { $0.configure(definitions) }
    for id in change.removed { try? remove(id, origin: .configuration) }
    _ = put(change.definitions, .configuration, isPublished: !change.isFirst)
    let removed = guarded.withLock { $0.finishConfiguring(isFirst: change.isFirst, at: now()) }
    for effect in removed.effects { effect() }
    return TargetConfigurationResult(takenOver: change.takenOver, removedDependencies: removed.dependencies)
  }

  /// Updates targets that were added at run time to new definitions of their modules, and to the built-in module of the same
  /// name when a module was removed.
  public func adopt(_ modules: [CheckModule]) {
    let known = modules + CheckModule.builtIn
    for report in reports(where: { $0.origin != .configuration }) {
      var definition = report.definition
      guard let module = known.first(where: { $0.name == definition.module.name }), module != definition.module,
        module.fits(definition.target.scheme)
      else { continue }
      definition.module = module
      // A concurrent change already uses the new modules.
      put(definition, origin: report.origin, if: .revisions([report.revision]))
    }
  }
}
