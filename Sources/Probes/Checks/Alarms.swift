internal import Names

/// Moments and whom they concern, the earliest first: a binary heap.
///
/// Entries are not taken back: whoever hears one compares it with the moment that still counts, and
/// ``rebuild(_:)`` drops the dead ones when they are most of it.
struct Alarms {
  private(set) var entries: [(at: Instant, id: UInt64)] = []

  var first: Instant? { entries.first?.at }

  mutating func set(_ id: UInt64, at moment: Instant) {
    entries.append((moment, id))
    var child = entries.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard entries[child].at < entries[parent].at else { return }
      entries.swapAt(child, parent)
      child = parent
    }
  }

  /// Takes the earliest entry if its moment has come.
  mutating func next(by now: Instant) -> (at: Instant, id: UInt64)? {
    guard let first = entries.first, first.at <= now else { return nil }
    let last = entries.removeLast()
    if entries.isEmpty { return first }
    entries[0] = last
    var parent = 0
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2]
      where child < entries.count && entries[child].at < entries[least].at { least = child }
      if least == parent { return first }
      entries.swapAt(least, parent)
      parent = least
    }
  }

  /// Starts again with these.
  mutating func rebuild(_ live: [(at: Instant, id: UInt64)]) {
    // An array in order is a heap.
    entries = live.sorted { $0.at < $1.at }
  }
}
