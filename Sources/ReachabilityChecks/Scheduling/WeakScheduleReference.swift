internal import Locks

/// A weak reference that the timer and the observer of a schedule hold, so that they do not keep the schedule alive.
final class WeakScheduleReference: Sendable {
  private struct Reference: Sendable { weak var schedule: CheckSchedule? }
  private let reference = Locked(Reference())

  /// The schedule; nil when it was deallocated.
  var schedule: CheckSchedule? {
    get { reference.withLock(\.schedule) }
    set { reference.withLock { $0.schedule = newValue } }
  }
}
