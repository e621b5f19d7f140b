internal import Locks
public import ReachabilityModel

extension CheckSchedule {
  /// Makes the targets of the configuration be these: others of its own go, the runtime's stay, what is unchanged keeps
  /// its state, and what was paused or resumed since stays so until the configuration itself says otherwise.
  ///
  /// Those that the first configuration brings are no news: whoever asks afterwards finds them. Later ones are.
  ///
  /// - Returns: what is worth a word.
  /// - Throws: the limit that they exceed together with those of callers; nothing has changed then.
  @discardableResult
  public func configure(_ definitions: [TargetDefinition]) throws(QuotaExcess) -> Reconfiguration {
    try reserve(definitions, limits)
    defer { guarded.withLock { $0.state.ledger.release() } }
    let wanted = Set(definitions.map(\.id))
    let (gone, kept, takenOver, isFirst) = guarded.withLock { guarded in
      let gone = guarded.state.entries.values.filter {
        $0.report.origin == .configuration && !wanted.contains($0.definition.id)
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
      return (gone.map(\.definition.id), kept, takenOver, isFirst)
    }
    for id in gone { try? remove(id, origin: .configuration) }
    _ = put(kept, .configuration, isTold: !isFirst)
    return Reconfiguration(takenOver: takenOver)
  }

  /// Has the runtime's targets be checked by these modules where they name one of them that has changed, or a built-in
  /// one again whose place one of them had.
  public func adopt(_ modules: [ProbeModule]) {
    let known = modules + ProbeModule.builtIn
    for report in reports(where: { $0.origin == .runtime }) {
      var definition = report.definition
      guard let module = known.first(where: { $0.name == definition.module.name }), module != definition.module,
        module.fits(definition.target.scheme)
      else { continue }
      definition.module = module
      // Whoever changes it meanwhile has read the new ones.
      put(definition, if: .revisions([report.revision]))
    }
  }
}
