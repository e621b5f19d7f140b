internal import Locks
internal import ReachabilityModel

extension ScriptedKernel {
  /// Delivers a reading to every observer, in the order of their starts.
  func deliver(_ causes: Set<Cause>) {
    for number in guarded.withLock({ $0.sessions.map(\.number) }) { deliver(causes, to: number) }
  }

  /// Delivers a reading to one observer, followed by those that were requested meanwhile.
  func deliver(_ causes: Set<Cause>, to number: Int) {
    let observer = guarded.withLock { guarded in
      guarded.withSession(number) { session -> (any KernelObserver)? in
        guard !session.isDelivering else {
          session.next = (session.next ?? []).union(causes)
          return nil
        }
        session.isDelivering = true
        return session.observer
      }
    }
    guard let observer = observer ?? nil else { return }
    var causes: Set<Cause>? = causes
    while let now = causes {
      let deadline = read(for: observer, number, now)
      causes = guarded.withLock { guarded in
        // The observer may have ended meanwhile.
        let next = guarded.withSession(number) { session -> Set<Cause>? in
          defer { session.next = nil }
          session.deadline = deadline
          session.isDelivering = session.next != nil
          return session.next
        }
        return next ?? nil
      }
    }
  }

  private func read(for observer: any KernelObserver, _ number: Int, _ causes: Set<Cause>) -> Duration? {
    var (script, survey, time) = guarded.withLock { guarded in
      let (announced, isAudit) =
        guarded.withSession(number) { session in
          defer {
            session.changes = RouteChanges()
            session.isAudit = false
          }
          return (session.changes, session.isAudit)
        } ?? (RouteChanges(isAny: true), false)
      var changes = announced
      if isAudit { changes.isAny = true }
      let survey = KernelSurvey(
        tables: guarded.script.tables, changes: changes, uptime: guarded.uptime, isAudit: isAudit)
      return (guarded.script, survey, guarded.now)
    }
    if observer.needsRouteBlocks(for: survey, isAfterLoss: survey.changes.isAny) {
      survey.changes.allBlocks = script.blocks
    }
    let answers = Dictionary(
      observer.routeQueries(for: survey).map { ($0, script.answer($0)) }, uniquingKeysWith: { first, _ in first })
    let reading = KernelReading(
      tables: survey.tables, answers: answers, causes: causes, uptime: survey.uptime, time: time)
    if survey.isAudit {
      let differences = observer.differences(in: reading)
      _ = guarded.withLock { $0.withSession(number) { $0.differences = differences } }
    }
    return observer.ingest(reading)
  }
}
