internal import Glibc
internal import Locks
internal import ReachabilityModel

/// Delivers the readings of one source to several observers: each receives the answers to its own lookups only.
///
/// A source begins every reading with ``needsRouteBlocks(isAfterLoss:)``; its calls do not overlap. Observers are called
/// without the lock.
final class NetlinkObserverMultiplexer: KernelObserver {
  private struct Entry {
    let member: Member
    var phase: Phase
    /// Whether it needs the blocks of all routes in this reading.
    var needsBlocks = false
    /// Its lookups in this reading.
    var queries: [RouteQuery] = []
  }

  /// How far the delivery of the first reading is.
  private enum Phase {
    /// The reading in progress may have been made before the observer was added.
    case added
    /// The next reading is its first.
    case waiting
    /// It has the first reading.
    case current
  }

  private struct State {
    var entries: [ObjectIdentifier: Entry] = [:]
    /// The tables of the last reading.
    var tables = KernelTables()
    /// The failure that was reported, until the next reading.
    var failure: KernelError?
    /// The thread that calls this observer now.
    var thread: pthread_t?
  }

  private let state = Locked(State())

  /// Whether the calling thread is inside a call of one of the observers.
  var isCalledByThisThread: Bool {
    state.withLock { $0.thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
  }

  /// Adds an observer.
  ///
  /// - Parameters:
  ///   - observer: the observer.
  ///   - isFirst: whether no reading has begun, so that the next one is also the first of this observer.
  /// - Returns: its membership, for ``remove(_:)``.
  /// - Throws: the failure of the source while it cannot read.
  func add(_ observer: any KernelObserver, isFirst: Bool) throws(KernelError) -> Member {
    let member = Member(observer)
    let failure = state.withLock { state in
      if state.failure == nil { state.entries[member.id] = Entry(member: member, phase: isFirst ? .waiting : .added) }
      return state.failure
    }
    if let failure { throw failure }
    return member
  }

  /// Removes an observer; a call in progress on another thread still completes.
  func remove(_ member: Member) { state.withLock { $0.entries[member.id] = nil } }

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
    _ = member.observer.needsRouteBlocks(isAfterLoss: true)
    let queries = member.observer.routeQueries(for: KernelSurvey(tables: tables, uptime: KernelClock.uptime))
    let answers = try lookUp(queries)
    _ = member.observer.ingest(
      KernelReading(tables: tables, answers: answers, uptime: KernelClock.uptime, time: KernelClock.time))
  }

  // MARK: - KernelObserver

  func needsRouteBlocks(isAfterLoss: Bool) -> Bool {
    var isNeeded = false
    forEachIncluded { entry in
      let needs = entry.member.observer.needsRouteBlocks(isAfterLoss: isAfterLoss || entry.phase == .waiting)
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
    var deadlines: [Duration] = []
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
      if let deadline = entry.member.observer.ingest(own) { deadlines.append(deadline) }
      guard entry.phase == .waiting else { return }
      change(entry) { $0.phase = .current }
      entry.member.endWait()
    }
    // The next reading, which begins after this one, is the first of those that were added meanwhile.
    let isAwaited = state.withLock { state in
      let added = state.entries.filter { $0.value.phase == .added }.keys
      for id in added { state.entries[id]?.phase = .waiting }
      return !added.isEmpty
    }
    return isAwaited ? reading.uptime : deadlines.min()
  }

  func kernelFailed(_ error: KernelError, at time: Timestamp) {
    let waiting = state.withLock { state in
      state.failure = error
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
      return state.entries.values.filter { $0.phase != .added }.map(\.member.id)
    }
    for id in included {
      guard let entry = state.withLock({ $0.entries[id] }) else { continue }
      body(entry)
    }
    state.withLock { $0.thread = nil }
  }

  private func change(_ entry: Entry, _ body: (inout Entry) -> Void) {
    state.withLock { state in
      guard var changed = state.entries[entry.member.id] else { return }
      body(&changed)
      state.entries[entry.member.id] = changed
    }
  }
}
