internal import Locks
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
    try reserve(definitions, limits)
    defer { guarded.withLock { $0.state.ledger.release() } }
    let configured = Set(definitions.map(\.id))
    let (removed, kept, takenOver, isFirst) = guarded.withLock { guarded in
      let removed = guarded.state.entries.values.filter {
        $0.report.origin == .configuration && !configured.contains($0.definition.id)
      }
      let kept = definitions.map { definition in
        var definition = definition
        if guarded.configured?[definition.id]?.isPaused == definition.isPaused,
          let entry = guarded.state.entries[definition.id], entry.report.origin == .configuration
        {
          definition.isPaused = entry.definition.isPaused
        }
        return definition
      }
      let isFirst = guarded.configured == nil
      guarded.configured = Dictionary(definitions.map { ($0.id, $0) }) { $1 }
      let takenOver = definitions.map(\.id).filter { guarded.state.entries[$0]?.report.origin == .runtime }
      return (removed.map(\.definition.id), kept, takenOver, isFirst)
    }
    for id in removed { try? remove(id, origin: .configuration) }
    _ = put(kept, .configuration, isPublished: !isFirst)
    return TargetConfigurationResult(takenOver: takenOver)
  }

  /// Updates targets that were added at run time to new definitions of their modules, and to the built-in module of the same
  /// name when a module was removed.
  public func adopt(_ modules: [CheckModule]) {
    let known = modules + CheckModule.builtIn
    for report in reports(where: { $0.origin == .runtime }) {
      var definition = report.definition
      guard let module = known.first(where: { $0.name == definition.module.name }), module != definition.module,
        module.fits(definition.target.scheme)
      else { continue }
      definition.module = module
      // A concurrent change already uses the new modules.
      put(definition, if: .revisions([report.revision]))
    }
  }
}
