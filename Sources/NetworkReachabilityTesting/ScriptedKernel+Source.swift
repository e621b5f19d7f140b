internal import Locks
public import ReachabilityModel

extension ScriptedKernel: KernelSource {
  /// Delivers the first reading, or throws what ``refuseStart(_:)`` said.
  public func start(_ observer: any KernelObserver) throws(KernelError) {
    if let error = guarded.withLock(\.startError) { throw error }
    guarded.withLock { guarded in
      guarded.sessionCount += 1
      guarded.session = Session(number: guarded.sessionCount, observer: observer)
      guarded.changes.isAny = true
    }
    deliver([])
  }

  /// Delivers a reading.
  public func refresh() { deliver([]) }

  /// Answers from the script.
  public func lookUp(_ queries: [RouteQuery]) throws(KernelError) -> [RouteQuery: RouteAnswer] {
    let script = guarded.withLock { guarded in
      guarded.lookUpCount += queries.count
      return guarded.script
    }
    return Dictionary(queries.map { ($0, script.answer($0)) }, uniquingKeysWith: { first, _ in first })
  }

  /// A script is never stuck.
  public var sinceProgress: Duration { .zero }

  /// Lets go of the observer; a reading that is being delivered on another thread may still reach it.
  public func stop() {
    // Let go outside the lock: the observer may go with it.
    let last = guarded.withLock { guarded in
      defer { guarded.session = nil }
      return guarded.session
    }
    withExtendedLifetime(last) {}
  }
}
