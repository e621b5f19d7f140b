internal import Glibc
internal import Locks
internal import ReachabilityModel

/// Delivers the readings of one source to several observers: each receives the answers to its own lookups only.
///
/// A source begins every reading with ``needsRouteBlocks(for:)``; its calls do not overlap. Observers are called
/// without the lock.
///
/// A reading without changes is delivered only to the observers that wait for it: those that were added, that requested it, or
/// whose deadline has passed. Otherwise the start of n monitors would cause n² readings.
final class NetlinkObserverMultiplexer: KernelObserver {
  private let state = Locked(State())

  var isCalledByThisThread: Bool {
    state.withLock { $0.thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
  }

  /// Adds an observer.
  ///
  /// - Parameters:
  ///   - member: the observer's membership, for ``remove(_:)``.
  ///   - isFirst: whether no reading has begun, so that the next one is also the first of this observer.
  /// - Throws: the failure of the source while it cannot read.
  func add(_ member: Member, isFirst: Bool) throws(KernelError) {
    let failure = state.withLock { state -> KernelError? in
      guard state.failure == nil else { return state.failure }
      state.entries[member.id] = Entry(member: member, phase: isFirst ? .waiting : .added)
      if isFirst { state.requested.insert(member.id) } else { state.added.insert(member.id) }
      return nil
    }
    if let failure { throw failure }
  }

  /// Removes an observer; a call in progress on another thread still completes.
  func remove(_ member: Member) {
    // Released outside the lock, because the observer may be deinitialized.
    let entry = state.withLock { $0.remove(member.id) }
    withExtendedLifetime(entry) {}
  }

  /// Includes an observer in the next reading, because its lookups have changed; no effect unless it was added.
  func request(_ member: Member) {
    state.withLock { state in
      if state.entries[member.id] != nil { state.requested.insert(member.id) }
    }
  }

  /// Ends every wait for a first reading, and refuses further observers, because the source did not start.
  func startFailed(_ error: KernelError) {
    let entries = state.withLock { state in
      state.failure = error
      return state.entries.values.map(\.member)
    }
    for member in entries { member.endWait(error) }
  }

  /// Delivers a first reading inside a call of another observer, where waiting for the next one would deadlock.
  ///
  /// The next reading is complete again for this observer, because this one has no route blocks.
  func deliverFirst(
    to member: Member, _ lookUp: ([RouteQuery]) throws(KernelError) -> [RouteQuery: RouteAnswer]
  ) throws(KernelError) {
    let tables = state.withLock(\.tables)
    let survey = KernelSurvey(tables: tables, uptime: KernelClock.uptime, isAfterLoss: true)
    let queries = member.observer.routeQueries(for: survey)
    let answers = try lookUp(queries)
    _ = member.observer.ingest(
      KernelReading(tables: tables, answers: answers, uptime: KernelClock.uptime, time: KernelClock.time))
  }

  // MARK: - KernelObserver

  func needsRouteBlocks(for survey: KernelSurvey) -> Bool {
    state.withLock { $0.include(for: survey) }
    var isNeeded = false
    forEachIncluded { entry in
      var own = survey
      if entry.phase == .waiting { own.isAfterLoss = true }
      let needs = entry.member.observer.needsRouteBlocks(for: own)
      change(entry) { $0.needsBlocks = needs }
      isNeeded = isNeeded || needs
    }
    return isNeeded
  }

  func routeQueries(for survey: KernelSurvey) -> [RouteQuery] {
    state.withLock { $0.tables = survey.tables }
    var all: [[RouteQuery]] = []
    forEachIncluded { entry in
      var own = survey
      if !entry.needsBlocks { own.changes.allBlocks = nil }
      if entry.phase == .waiting {
        own.changes.isAny = true
        own.isAudit = false
        own.isAfterLoss = true
      }
      let queries = entry.member.observer.routeQueries(for: own)
      change(entry) { $0.queries = queries }
      all.append(queries)
    }
    return all.count == 1 ? all[0] : Array(Set(all.joined()))
  }

  func differences(in audit: KernelReading) -> Int {
    var found = 0
    forEachIncluded { entry in
      if entry.phase == .current { found += entry.member.observer.differences(in: audit) }
    }
    return found
  }

  func ingest(_ reading: KernelReading) -> Duration? {
    let isShared = state.withLock { state in
      state.failure = nil
      return state.entries.count > 1
    }
    forEachIncluded { entry in
      var own = reading
      if isShared {
        own.answers = [:]
        for query in entry.queries { own.answers[query] = reading.answers[query] }
      }
      if entry.phase == .waiting {
        own.causes = []
        own.receivedAt = nil
      }
      setDeadline(entry.member.observer.ingest(own), of: entry.member)
      guard entry.phase == .waiting else { return }
      change(entry) { $0.phase = .current }
      entry.member.endWait()
    }
    // The next reading, which begins after this one, is the first of those that were added meanwhile.
    return state.withLock { state in
      guard !state.added.isEmpty else { return state.deadlines.values.min() }
      for id in state.added { state.entries[id]?.phase = .waiting }
      state.requested.formUnion(state.added)
      state.added = []
      return reading.uptime
    }
  }

  func kernelFailed(_ error: KernelError, at time: Timestamp) {
    let waiting = state.withLock { state in
      state.failure = error
      state.included = Array(state.entries.keys)
      return state.entries.values.filter { $0.phase != .current }.map(\.member)
    }
    for member in waiting { member.endWait(error) }
    forEachIncluded { entry in
      if entry.phase == .current { entry.member.observer.kernelFailed(error, at: time) }
    }
  }

  /// Calls `body` without the lock for each observer that takes part in this reading and is not removed meanwhile.
  private func forEachIncluded(_ body: (Entry) -> Void) {
    let included = state.withLock { state in
      state.thread = pthread_self()
      return state.included
    }
    for id in included {
      guard let entry = state.withLock({ $0.entries[id] }) else { continue }
      body(entry)
    }
    state.withLock { $0.thread = nil }
  }

  private func setDeadline(_ deadline: Duration?, of member: Member) {
    state.withLock { state in
      if state.entries[member.id] != nil { state.deadlines[member.id] = deadline }
    }
  }

  private func change(_ entry: Entry, _ body: (inout Entry) -> Void) {
    state.withLock { state in
      guard var changed = state.entries[entry.member.id] else { return }
      body(&changed)
      state.entries[entry.member.id] = changed
    }
  }
}
