internal import Locks

/// How long ago events were published, by the service's time, for any thread.
///
/// The time of an event is that of the wall clock, which may have been set since then.
final class EventClock: Sendable {
  /// From an event on, the wall clock ran as CLOCK_BOOTTIME does.
  private struct Mark {
    var event: UInt64
    var wall: Int64
    /// CLOCK_BOOTTIME with the runs before.
    var service: Int64
    /// The wall clock minus CLOCK_BOOTTIME.
    var shift: Int64
  }

  private struct State {
    var marks: [Mark]
    /// What to add to CLOCK_BOOTTIME of this run.
    var service: Int64
  }

  private let state: Locked<State>

  /// - Parameters:
  ///   - stretches: those of the stored events, ascending; the last one is that of the present run.
  ///   - next: the number of the next event.
  ///   - now: the present time.
  init(_ stretches: [ClockStretch], next: UInt64, now: StoreTime) {
    var marks = stretches.filter { $0.events.lowerBound > 0 }.map { stretch in
      Mark(
        event: UInt64(stretch.events.lowerBound), wall: stretch.uptime.lowerBound &+ stretch.wall,
        service: stretch.serviceTime.lowerBound, shift: stretch.wall)
    }
    let service = stretches.last?.service ?? 0
    if marks.isEmpty {
      marks = [Mark(event: next, wall: now.wall, service: now.uptime &+ service, shift: now.wall &- now.uptime)]
    }
    state = Locked(State(marks: marks, service: service))
  }

  /// Notes that events are published; compares the clocks.
  func note(_ event: UInt64, at now: StoreTime) {
    let shift = now.wall &- now.uptime
    state.withLock { state in
      if let last = state.marks.last, ClockStretch.isSame(shift, last.shift) { return }
      state.marks.append(Mark(event: event, wall: now.wall, service: now.uptime &+ state.service, shift: shift))
      // Events before the first mark count as published at its time, which keeps them longer.
      if state.marks.count > Limits.stretches { state.marks.removeFirst() }
    }
  }

  /// Returns how long ago an event was published.
  ///
  /// - Parameters:
  ///   - event: its number.
  ///   - time: its time by the wall clock.
  ///   - now: the present time.
  /// - Returns: the time that the service has run since then.
  func age(of event: UInt64, at time: Int64, now: StoreTime) -> Duration {
    let (marks, service) = state.withLock { ($0.marks, $0.service) }
    let present = now.uptime &+ service
    let next = marks.partitioningIndex { $0.event > event }
    let end = next < marks.endIndex ? marks[next].service : present
    guard next > 0 else { return .microseconds(max(0, present &- end)) }
    let mark = marks[next - 1]
    let published = min(end, mark.service &+ max(0, time &- mark.wall))
    return .microseconds(max(0, present &- published))
  }
}

extension Array {
  /// The first index whose element, and those of all later ones, satisfy a condition.
  fileprivate func partitioningIndex(where isAfter: (Element) -> Bool) -> Int {
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = low + (high - low) / 2
      if isAfter(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
