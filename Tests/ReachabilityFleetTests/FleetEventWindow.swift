import ReachabilityFleet

/// The latest events of a fold, for subscribers that continue after an id: a model of the log of a replica.
struct FleetEventWindow: Sendable {
  private var events: [FleetEvent] = []
  private var head = 0
  /// The number after which it has all events.
  private(set) var oldest: UInt64 = 0
  private let limit: Int

  /// Creates a window for a fold that has no events yet.
  ///
  /// - Parameter limit: the number of events that it keeps.
  init(limit: Int) { self.limit = limit }

  /// Whether it has no events.
  var isEmpty: Bool { head == events.count }

  /// The id of the last event; nil when there is none.
  var last: FleetEventID? { events.last?.id }

  /// The first message of the fold has this stream sequence: events before it are not kept.
  mutating func begin(at sequence: UInt64) {
    events = []
    head = 0
    oldest = FleetEventID.number(before: sequence)
  }

  /// Adds the next event.
  mutating func append(_ event: FleetEvent) {
    events.append(event)
    guard events.count - head > limit else { return }
    oldest = events[head].id.number
    head += 1
    if head > events.count / 2 {
      events.removeFirst(head)
      head = 0
    }
  }

  /// The check of the event with a number; nil when it is not here.
  func check(of number: UInt64) -> UInt32? {
    let index = index(after: number &- 1)
    guard index < events.count, events[index].id.number == number else { return nil }
    return events[index].id.check
  }

  /// The events after a number.
  ///
  /// - Parameters:
  ///   - number: the number of the last event that the reader has; at least ``oldest``.
  ///   - limit: how many.
  /// - Returns: the events, oldest first.
  func events(after number: UInt64, limit: Int = .max) -> ArraySlice<FleetEvent> {
    events[index(after: number)...].prefix(limit)
  }

  private func index(after number: UInt64) -> Int {
    var low = head
    var high = events.count
    while low < high {
      let middle = (low + high) / 2
      if events[middle].id.number <= number { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
