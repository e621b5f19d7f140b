/// Keys by the tick at which they are due: a hashed timing wheel, so that putting in and taking out cost the same for ten
/// targets and ten thousand.
///
/// Who changes a key's time puts it in again and recognizes the old one by its tick; it is taken out in its time, or by a sweep.
struct TimingWheel<Key> {
  private struct Entry {
    var key: Key
    var tick: Int
  }

  private var slots: [[Entry]]
  /// How many are in it, old ones included.
  private(set) var count = 0
  /// The last tick that was taken.
  private(set) var now: Int

  /// A wheel of so many slots that has taken `tick`; what lies further ahead than a round costs a look each round.
  init(slots: Int, at tick: Int) {
    self.slots = Array(repeating: [], count: slots)
    now = tick
  }

  /// Puts a key in; what is due already comes with the next tick.
  ///
  /// - Returns: the tick with which it comes.
  @discardableResult
  mutating func insert(_ key: Key, at tick: Int) -> Int {
    let tick = max(tick, now + 1)
    slots[tick % slots.count].append(Entry(key: key, tick: tick))
    count += 1
    return tick
  }

  /// Takes out all that nobody waits for any more.
  mutating func sweep(keeping isWanted: (Key, Int) -> Bool) {
    for slot in slots.indices where !slots[slot].isEmpty { slots[slot].removeAll { !isWanted($0.key, $0.tick) } }
    count = slots.reduce(0) { $0 + $1.count }
  }

  /// Takes out everything that is due up to and including a tick, in the order of the ticks.
  mutating func advance(to tick: Int) -> [(key: Key, tick: Int)] {
    guard tick > now else { return [] }
    // After a long stop one round sees every slot.
    let first = max(now + 1, tick - slots.count + 1)
    var due: [(key: Key, tick: Int)] = []
    for slot in (first...tick).map({ $0 % slots.count }) where !slots[slot].isEmpty {
      due += slots[slot].lazy.filter { $0.tick <= tick }.map { ($0.key, $0.tick) }
      slots[slot].removeAll { $0.tick <= tick }
    }
    now = tick
    count -= due.count
    return due.sorted { $0.tick < $1.tick }
  }

  /// The next tick with something due, or the end of the round when it lies beyond; nil when the wheel is empty.
  var next: Int? {
    guard count > 0 else { return nil }
    return (now + 1...now + slots.count).first { tick in
      slots[tick % slots.count].contains { $0.tick <= tick }
    } ?? now + slots.count
  }
}
