/// A hashed timing wheel: keys by the tick at which they are due.
///
/// Insertion and removal take constant time.
///
/// To change the time of a key, insert it again and ignore the old entry, which differs by its tick; entries are removed when
/// they are due, or by a sweep. (A heap has no removal either, and its operations take logarithmic time.)
struct ScheduleTimingWheel<Key> {
  private struct Entry {
    var key: Key
    var tick: Int
  }

  private var slots: [[Entry]]
  /// The number of entries, including outdated ones.
  private(set) var count = 0
  /// The last tick that was advanced to.
  private(set) var now: Int

  /// A wheel at `tick`; entries further ahead than `slots` are examined once per revolution.
  init(slots: Int, at tick: Int) {
    self.slots = Array(repeating: [], count: slots)
    now = tick
  }

  /// Inserts a key; a tick in the past becomes the next one.
  ///
  /// - Returns: the tick at which the key is due.
  @discardableResult
  mutating func insert(_ key: Key, at tick: Int) -> Int {
    let tick = max(tick, now + 1)
    slots[tick % slots.count].append(Entry(key: key, tick: tick))
    count += 1
    return tick
  }

  /// Removes outdated entries.
  mutating func sweep(keeping isCurrent: (Key, Int) -> Bool) {
    for slot in slots.indices where !slots[slot].isEmpty { slots[slot].removeAll { !isCurrent($0.key, $0.tick) } }
    count = slots.reduce(0) { $0 + $1.count }
  }

  /// Removes and returns the entries that are due up to and including a tick, in the order of their ticks.
  mutating func advance(to tick: Int) -> [(key: Key, tick: Int)] {
    guard tick > now else { return [] }
    // After a long pause one revolution visits every slot.
    let first = max(now + 1, tick - slots.count + 1)
    var due: [(key: Key, tick: Int)] = []
    for slot in (first...tick).map({ $0 % slots.count }) where !slots[slot].isEmpty {
      for entry in slots[slot] where entry.tick <= tick { due.append((entry.key, entry.tick)) }
      slots[slot].removeAll { $0.tick <= tick }
    }
    now = tick
    count -= due.count
    return due.sorted { $0.tick < $1.tick }
  }

  /// The next tick with a due entry, or the end of the revolution when none is due before; nil when the wheel is empty.
  var next: Int? {
    guard count > 0 else { return nil }
    return (now + 1...now + slots.count).first { tick in
      slots[tick % slots.count].contains { $0.tick <= tick }
    } ?? now + slots.count
  }
}
