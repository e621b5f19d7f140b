internal import Database
internal import EventLoop
public import HostProcess
internal import Locks
internal import Logging

/// The start of a service with a store: what keeps a database from ending one start after the other (ADR 51).
///
/// A marker in the data directory counts the starts that ended before their states were restored. After two of them in a
/// row the database is set aside (``StoreStartPlan``). While the store is opened, a thread ends the process at SIGTERM, and
/// reports progress to the service manager.
///
/// The program must call ``DatabaseReading/runIfRequested(_:)`` first of all, because the process that reads a database
/// that was set aside is one of the same program.
public final class StoreStart: Sendable {
  private enum Phase {
    case notBegun
    /// The process may end at any time, and removes the marker then.
    case opening(StoreStartMarker)
    /// A run has begun, which must be ended in order.
    case restoring(StoreStartMarker)
    /// The marker is being removed, without the lock: the disk may not respond.
    case ending
    case ended
    /// SIGTERM ends the process.
    case abandoned
  }

  private let phase = Locked(Phase.notBegun)
  private let endRequest = Locked<MonotonicInstant?>(nil)
  private let manager: ServiceManager

  /// Prepares a start.
  ///
  /// - Parameter manager: receives the progress of a slow opening.
  public init(reportingTo manager: ServiceManager) { self.manager = manager }

  /// Counts this start, after the directory was locked.
  func begin(in directory: DataDirectory, _ logger: Logger) -> StoreStartPlan {
    let marker = StoreStartMarker(directory)
    phase.withLock { $0 = .opening(marker) }
    do throws(DatabaseFileError) {
      return StoreStartPlan(unfinished: try marker.countUp())
    } catch {
      logger.warning(
        "the start cannot be counted: if the database ends it, the next one opens the database again",
        metadata: ["error": "\(error)"])
      return .open
    }
  }

  /// Starts the thread that watches the opening; nil if the process can start none.
  func watch() -> StoreOpeningThread? { StoreOpeningThread(self, manager) }

  /// Records that the rows of the database that was set aside are about to be used.
  func noteSalvage(_ logger: Logger) {
    phase.withLock { phase in
      guard case .opening(let marker) = phase else { return }
      do throws(DatabaseFileError) {
        try marker.advance(to: StoreStartPlan.afterSalvage)
      } catch {
        logger.warning("the start cannot be counted", metadata: ["error": "\(error)"])
      }
    }
  }

  /// Begins that time again, after a database in which no run has begun.
  func beginOpening() {
    phase.withLock { phase in
      if case .restoring(let marker) = phase { phase = .opening(marker) }
    }
  }

  /// Ends the time in which SIGTERM ends the process immediately.
  func beginRestoring() {
    let isAbandoned = phase.withLock { phase in
      if case .opening(let marker) = phase { phase = .restoring(marker) }
      if case .abandoned = phase { return true }
      return false
    }
    // The process is about to end.
    if isAbandoned { Latch().wait() }
  }

  /// Removes the marker at SIGTERM: the end that follows is no fault of the database, also if it is a SIGKILL.
  ///
  /// - Returns: whether the process may end immediately; false when a run has begun, which the service ends in order.
  func abandon() -> Bool {
    phase.withLock { phase in
      switch phase {
      case .opening(let marker):
        try? marker.remove()
        phase = .abandoned
        return true
      case .restoring(let marker):
        try? marker.remove()
        phase = .ended
        return false
      case .notBegun, .ending, .ended, .abandoned: return false
      }
    }
  }

  /// Removes the marker, because the states are restored or the process ends by itself.
  func end(_ logger: Logger) {
    let marker = phase.withLock { phase -> StoreStartMarker? in
      switch phase {
      case .opening(let marker), .restoring(let marker):
        phase = .ending
        return marker
      case .notBegun, .ending, .ended, .abandoned: return nil
      }
    }
    guard let marker else { return }
    do throws(DatabaseFileError) {
      try marker.remove()
    } catch {
      logger.warning("this start counts as unfinished", metadata: ["error": "\(error)"])
    }
    phase.withLock { $0 = .ended }
  }

  /// Records that the marker is about to be removed.
  func requestEnd() { endRequest.withLock { $0 = $0 ?? .now } }

  /// Whether the states are being restored.
  var isInProgress: Bool {
    if let requested = endRequest.withLock({ $0 }), requested.duration(to: .now) > Limits.startEnd { return false }
    return phase.withLock { phase in
      switch phase {
      case .opening, .restoring, .ending: true
      case .notBegun, .ended, .abandoned: false
      }
    }
  }
}
