internal import Locks
public import ReachabilityModel

extension ScriptedKernel: KernelSource {
  /// Delivers the first reading, or throws the error of ``refuseStart(_:)``.
  ///
  /// Unlike a real source, it may be started repeatedly, for any number of observers.
  package func start(_ observer: any KernelObserver) throws(KernelError) {
    if let error = guarded.withLock(\.startError) { throw error }
    let number = guarded.withLock { guarded in
      guarded.sessionCount += 1
      guarded.sessions.append(Session(number: guarded.sessionCount, observer: observer))
      return guarded.sessionCount
    }
    deliver([], to: number)
  }

  /// Delivers a reading to every observer.
  public func refresh() { deliver([]) }

  /// Answers from the script.
  package func lookUp(_ queries: [RouteQuery]) throws(KernelError) -> [RouteQuery: RouteAnswer] {
    let script = guarded.withLock { guarded in
      guarded.lookUpCount += queries.count
      return guarded.script
    }
    return Dictionary(queries.map { ($0, script.answer($0)) }, uniquingKeysWith: { first, _ in first })
  }

  /// A script never waits.
  package var answersImmediately: Bool { true }

  /// A script is never blocked.
  package var timeSinceProgress: Duration { .zero }

  /// Releases every observer; a reading that is being delivered on another thread may still reach one.
  package func stop() { end { _ in true } }

  /// Releases one observer; a reading that is being delivered on another thread may still reach it.
  package func stop(for observer: any KernelObserver) { end { $0.observer === observer } }

  private func end(_ matches: (Session) -> Bool) {
    // Released outside the lock, because the observers may be deinitialized.
    let ended = guarded.withLock { guarded in
      let ended = guarded.sessions.filter(matches)
      guarded.sessions.removeAll(where: matches)
      return ended
    }
    withExtendedLifetime(ended) {}
  }
}
