internal import CMicroHTTPD
internal import Glibc

/// The earliest of many deadlines, in monotonic nanoseconds.
///
/// Entries are not removed at once when they lose their meaning: whoever takes one checks whether it still stands, and
/// sweeps when there are many.
struct DeadlineHeap {
  enum Purpose {
    /// A request's head or body must be complete.
    case request
    /// A promised answer must have come.
    case reply
    /// A silent stream needs a heartbeat.
    case heartbeat
    /// A refused client has had time to hang up.
    case cut
    /// A half-closed socket has been read long enough.
    case linger
    /// A client that closed its side has had time to get a quick answer.
    case halfClosed
    /// A stop no longer waits for first requests.
    case lastRequests
    /// Who still waits for an answer is to be told that a stop is near.
    case finalGrace
    /// The grace of a stop is over.
    case stop
  }

  struct Entry {
    var time: UInt64
    var purpose: Purpose
    var token: UInt64
  }

  private var entries: [Entry] = []
  /// With more entries than this, most may be dead.
  private var sweptAt = Limits.unsweptDeadlines

  /// The number of entries, dead ones included.
  var count: Int { entries.count }

  /// Whether so many were pushed since the last sweep that another one costs next to nothing for each.
  var needsSweep: Bool { entries.count > sweptAt }

  /// The earliest deadline.
  var earliest: UInt64? { entries.first?.time }

  mutating func push(_ time: UInt64, _ purpose: Purpose, token: UInt64) {
    entries.append(Entry(time: time, purpose: purpose, token: token))
    var child = entries.count - 1
    while child > 0, entries[child].time < entries[(child - 1) / 2].time {
      entries.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  /// Takes the earliest entry if its time has come.
  mutating func pop(at now: UInt64) -> Entry? {
    guard let top = entries.first, top.time <= now, let last = entries.popLast() else { return nil }
    guard !entries.isEmpty else { return top }
    entries[0] = last
    sink(0)
    return top
  }

  /// Removes the entries that have lost their meaning.
  mutating func sweep(keeping isCurrent: (Entry) -> Bool) {
    entries.removeAll { !isCurrent($0) }
    for index in (0..<entries.count / 2).reversed() { sink(index) }
    sweptAt = max(Limits.unsweptDeadlines, entries.count * 2)
  }

  /// Puts an entry that is later than those below it into its place.
  private mutating func sink(_ index: Int) {
    var parent = index
    while true {
      let left = parent * 2 + 1
      var least = parent
      if left < entries.count, entries[left].time < entries[least].time { least = left }
      if left + 1 < entries.count, entries[left + 1].time < entries[least].time { least = left + 1 }
      guard least != parent else { return }
      entries.swapAt(parent, least)
      parent = least
    }
  }
}

/// The clock of every deadline here (clock_gettime(2)): it does not jump when somebody sets the time.
enum MonotonicClock {
  /// Nanoseconds since an arbitrary moment.
  static var now: UInt64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}

extension Duration {
  /// Whole nanoseconds, never below zero and at most a century, so that sums never overflow.
  var nanoseconds: UInt64 {
    let (seconds, attoseconds) = components
    let century: Int64 = 3_155_760_000
    guard seconds < century else { return UInt64(century) * 1_000_000_000 }
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    return UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds) / 1_000_000_000
  }
}
