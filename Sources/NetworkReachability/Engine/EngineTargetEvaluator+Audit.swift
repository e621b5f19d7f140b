internal import ReachabilityModel

// Compares the held paths with a reading that no event caused.
extension EngineTargetEvaluator {
  /// Counts the paths of classes, members and individual targets that differ from an audit's answers, and the prefixes that
  /// were missing.
  func differences(in audit: KernelReading) -> Int {
    guard debouncer.isIdle, individuals.isIdle else { return classes.missingPrefixes }
    var found = classes.missingPrefixes + classes.differences(in: audit, paths)
    for (id, watch) in individuals.all where table.mode(id) == .individual {
      guard let entry = table[id], let queries = watch.queries, let published = watch.verdict?.published,
        queries.allSatisfy({ audit.answers[$0] != nil })
      else { continue }
      let verdict = TargetRules.verdict(
        for: entry.target, resolution: entry.resolution, permitting: requirement, answers: audit.answers,
        in: audit.tables)
      if !entry.hasNewResolution, verdict != published { found += 1 }
    }
    return found
  }
}
