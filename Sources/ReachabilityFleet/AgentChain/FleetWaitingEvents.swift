/// Since when events of an agent's store wait to be published; the time is an input.
struct FleetWaitingEvents: Sendable {
  /// The numbers whose times are kept: those of a minute at one event in each sixteenth of a second.
  private static let limit = 1024
  /// The least time between two of them.
  private static let interval = Duration.milliseconds(62)

  /// The numbers up to which events existed at a time, ascending; events at the start of the process are at zero.
  private var times: [(number: UInt64, time: Duration)]

  init(through number: UInt64) { times = [(number, .zero)] }

  /// Events up to a number exist now.
  mutating func append(_ number: UInt64, at now: Duration) {
    guard let last = times.last, number > last.number else { return }
    if times.count >= Self.limit || now - last.time < Self.interval, times.count > 1 {
      // The events count as old as the ones before them, at most.
      times[times.count - 1].number = number
    } else {
      times.append((number, now))
    }
  }

  /// When the first event after a number was added; nil when there is none.
  func oldest(after number: UInt64) -> Duration? { times.first { $0.number > number }?.time }

  mutating func discard(through number: UInt64) {
    while times.count > 1, let first = times.first, first.number <= number { times.removeFirst() }
  }
}
