import ReachabilityFleet

/// A stream in memory that a test can wipe, truncate and restore: the engine's rules for conditional publications.
struct ScriptedStream {
  struct Entry: Hashable {
    var sequence: UInt64
    var time: Int64
    var message: FleetMessage
  }

  private(set) var created: Int64
  private(set) var entries: [Entry] = []
  private(set) var last: UInt64 = 0
  /// The engine's clock in nanoseconds; every publication takes one.
  private var clock: Int64 = 1_000_000_000

  init() {
    created = clock
  }

  var state: FleetEngineStreamState {
    FleetEngineStreamState(created: created, first: entries.first?.sequence ?? last + 1, last: last)
  }

  /// The index of the first message from a sequence on; nil when there is none.
  func index(from sequence: UInt64) -> Int? {
    var low = 0
    var high = entries.count
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].sequence < sequence { low = middle + 1 } else { high = middle }
    }
    return low < entries.count ? low : nil
  }

  mutating func publish(_ message: FleetMessage, expecting: FleetEngineExpectedLast? = nil) throws(FleetEngineError)
    -> UInt64
  {
    if let expecting, expecting != FleetEngineExpectedLast(after: self[message.subject]?.sequence ?? 0) {
      throw .unexpectedLast
    }
    clock += 1
    last += 1
    entries.append(Entry(sequence: last, time: clock, message: message))
    return last
  }

  /// The last message on a subject.
  subscript(subject: FleetSubject) -> Entry? { entries.last { $0.message.subject == subject } }

  /// The engine has lost everything, and the stream was created again.
  mutating func wipe() {
    clock += 1
    created = clock
    entries = []
    last = 0
  }

  /// A copy with only the first entries: an older copy of the same stream was restored.
  mutating func truncate(through sequence: UInt64) {
    entries.removeAll { $0.sequence > sequence }
    last = min(last, sequence)
  }

  /// The oldest messages reach their age.
  mutating func expire(through sequence: UInt64) { entries.removeAll { $0.sequence <= sequence } }
}
