internal import Locks
public import ReachabilityModel

extension CheckSchedule {
  /// Makes the targets of the configuration be these: others of its own go, the runtime's stay, what is unchanged keeps
  /// its state, and what was paused or resumed since stays so until the configuration itself says otherwise.
  ///
  /// - Returns: the ids for which there was no room.
  @discardableResult
  public func configure(_ definitions: [TargetDefinition]) -> [String] {
    let wanted = Set(definitions.map(\.id))
    let (gone, kept) = guarded.withLock { guarded in
      let gone = guarded.state.entries.values.filter {
        $0.report.origin == .configuration && !wanted.contains($0.definition.id)
      }
      let kept = definitions.map { definition in
        var definition = definition
        if guarded.configured[definition.id]?.isPaused == definition.isPaused,
          let entry = guarded.state.entries[definition.id], entry.report.origin == .configuration
        {
          definition.isPaused = entry.definition.isPaused
        }
        return definition
      }
      guarded.configured = Dictionary(definitions.map { ($0.id, $0) }) { $1 }
      return (gone.map(\.definition.id), kept)
    }
    for id in gone { try? remove(id, origin: .configuration) }
    let placements = put(kept, origin: .configuration)
    return zip(definitions, placements).filter { $0.1 == .refused(.full) }.map(\.0.id)
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
