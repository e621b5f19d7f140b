internal import Events
internal import HTTPRouting
internal import History
internal import JSONFormat
internal import Logging
internal import ReachabilityChecks

/// A registered target in the store: its definition as the JSON document that registers it, and its status.
enum TargetStorage {
  /// The target of a row.
  ///
  /// - Throws: what is wrong with the definition.
  static func restored(
    _ record: TargetRecord, modules: [CheckModule]
  ) throws(TargetDecoder.InvalidFields) -> RestoredTarget {
    guard let origin = TargetOrigin(rawValue: record.origin) else {
      throw invalid("origin", "unknown origin \(record.origin.prefix(80).debugDescription)")
    }
    guard let document = try? JSON.parse(Array(record.definition.utf8)) else {
      throw invalid("definition", "the definition is not JSON")
    }
    let definition = try TargetDecoder.definition(
      document, at: "", id: record.id, modules: modules + [missingModule(document, modules)].compactMap(\.self))
    // A definition is kept without its state: it begins as one that was registered now.
    let state =
      StoredTargetState(record.state)
      ?? StoredTargetState(status: TargetStatus(at: .now, isPaused: definition.isPaused).restorable, changes: 0)
    return RestoredTarget(
      definition: definition, origin: origin, revision: record.revision, changes: state.changes, status: state.status,
      isPausedByConfiguration: state.isPausedByConfiguration, token: record.token)
  }

  private static func invalid(_ column: String, _ detail: String) -> TargetDecoder.InvalidFields {
    TargetDecoder.InvalidFields(errors: [FieldError(pointer: "/\(column)", detail: detail)])
  }

  /// A module in place of one that the configuration does not have any more.
  ///
  /// No client's target may use it, so that checks are refused with the reason of a module without access, until the
  /// configuration has a module of this name again.
  private static func missingModule(_ target: JSON, _ modules: [CheckModule]) -> CheckModule? {
    guard let name = target["module"]?.string, !(modules + CheckModule.builtIn).contains(where: { $0.name == name }),
      let text = target["target"]?.string, let scheme = (try? CheckTarget(text))?.scheme
    else { return nil }
    var module = CheckModule.standard(for: scheme)
    module.name = name
    module.access = .noTarget
    return module
  }
}

extension HistoryStore {
  /// Registers the targets of an earlier process, and has the states of the machine, of its interfaces and of targets written
  /// to a file that takes the place of the present one.
  func restore(_ schedule: CheckSchedule, _ events: ServiceEvents, modules: [CheckModule], _ logger: Logger) {
    schedule.gates.restore(GateStorage.restored(recovered.subjects, logger))
    schedule.restore(from: self, modules: modules, logger)
    writeToNewFile { [weak events, weak schedule] (connection) throws(StoreQueryError) in
      guard let events, let schedule else { return }
      let states = events.publisher.latest.snapshot.storedStates + GateStorage.states(schedule.gates.reports)
      let targets = schedule.reports().map { TargetRecord($0) }
      try HistoryStore.replaceStates(states, targets, in: connection)
    }
  }
}

extension CheckSchedule {
  /// Registers the targets of an earlier process, after everything else that was recovered is in use.
  fileprivate func restore(from store: HistoryStore, modules: [CheckModule], _ logger: Logger) {
    let recovered = store.recovered
    store.releaseRecovered()
    var targets: [RestoredTarget] = []
    for record in recovered.targets {
      do throws(TargetDecoder.InvalidFields) {
        let target = try TargetStorage.restored(record, modules: modules)
        targets.append(target)
        let name = target.definition.module.name
        guard target.origin == .runtime, !(modules + CheckModule.builtIn).contains(where: { $0.name == name }) else {
          continue
        }
        logger.warning(
          "the module of a client's target is not configured any more; its checks are refused",
          metadata: ["target": "\(record.id)", "module": "\(name)"])
      } catch {
        logger.error(
          "a stored target is not registered",
          metadata: ["target": "\(record.id)", "error": "\(error.errors.first?.detail ?? "")"])
      }
    }
    // A million changes of definitions for each run; the numbers of runs are at most 2⁴⁰.
    restore(targets, firstRevision: UInt64(clamping: recovered.run) << 20, idle: recovered.idle)
  }
}
