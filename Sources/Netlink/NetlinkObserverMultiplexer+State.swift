internal import Glibc
internal import Locks
internal import ReachabilityModel

extension NetlinkObserverMultiplexer {
  /// One observer, from ``add(_:isFirst:)`` to ``remove(_:)``.
  final class Member: Sendable {
    let observer: any KernelObserver
    var id: ObjectIdentifier { ObjectIdentifier(self) }
    private let latch = Latch()
    private let failure = Locked<KernelError?>(nil)

    init(_ observer: any KernelObserver) { self.observer = observer }

    /// Waits for the first reading.
    ///
    /// - Throws: the failure of the source, if there is no reading.
    func waitForFirstReading() throws(KernelError) {
      latch.wait()
      if let failure = failure.withLock(\.self) { throw failure }
    }

    /// Ends the wait; further calls have no effect on the result.
    func endWait(_ error: KernelError? = nil) {
      failure.withLock { $0 = $0 ?? error }
      latch.open()
    }
  }

  /// One observer with its part in the reading in progress.
  struct Entry {
    let member: Member
    var phase: Phase
    var needsBlocks = false
    var queries: [RouteQuery] = []
  }

  /// How far the delivery of the first reading is.
  enum Phase {
    /// The reading in progress may have been made before the observer was added.
    case added
    /// The next reading is its first.
    case waiting
    /// It has the first reading.
    case current
  }

  /// What the lock of a ``NetlinkObserverMultiplexer`` guards.
  struct State {
    var entries: [ObjectIdentifier: Entry] = [:]
    /// The observers in the phase `added`.
    var added: Set<ObjectIdentifier> = []
    /// The observers that the next reading includes even without changes: those in the phase `waiting`, and those that
    /// requested it.
    var requested: Set<ObjectIdentifier> = []
    /// When observers must read again without an event, on CLOCK_MONOTONIC.
    var deadlines: [ObjectIdentifier: Duration] = [:]
    /// The observers that take part in the reading in progress.
    var included: [ObjectIdentifier] = []
    /// The tables of the last reading.
    var tables = KernelTables()
    /// The failure that was reported, until the next reading.
    var failure: KernelError?
    /// The thread that calls this observer now.
    var thread: pthread_t?

    mutating func remove(_ id: ObjectIdentifier) -> Entry? {
      added.remove(id)
      requested.remove(id)
      deadlines[id] = nil
      return entries.removeValue(forKey: id)
    }

    /// Selects the observers that a reading includes.
    mutating func include(for survey: KernelSurvey) {
      if survey.changes.isEmpty, !survey.isAudit {
        let due = deadlines.lazy.filter { $0.value <= survey.uptime }.map(\.key)
        included = Array(requested.union(due))
      } else {
        included = entries.keys.filter { !added.contains($0) }
      }
      // What is requested from now on is requested after the lookups.
      requested = []
    }
  }
}
