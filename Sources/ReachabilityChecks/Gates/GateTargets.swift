internal import ReachabilityModel

/// The registered targets as gates see them, each with a number, so that a gate needs one bit for a member.
struct GateTargets {
  /// A target with its id.
  struct Entry {
    var id: String
    var target: GateTable.Target
  }

  private var numbers: [String: Int] = [:]
  private var entries: [Entry?] = []
  private var free: [Int] = []

  /// The target with an id, and its number; nil for none.
  func find(_ id: String) -> (number: Int, target: GateTable.Target)? {
    guard let number = numbers[id], let entry = entries[number] else { return nil }
    return (number, entry.target)
  }

  /// The target with a number; nil for none.
  subscript(number: Int) -> Entry? { entries.indices.contains(number) ? entries[number] : nil }

  /// All targets with their numbers.
  var all: some Sequence<(number: Int, entry: Entry)> {
    entries.enumerated().lazy.compactMap { number, entry in entry.map { (number: number, entry: $0) } }
  }

  /// Adds or changes a target.
  ///
  /// - Returns: its number.
  mutating func put(_ id: String, _ target: GateTable.Target) -> Int {
    let entry = Entry(id: id, target: target)
    let number = numbers[id] ?? free.popLast() ?? entries.count
    numbers[id] = number
    if number < entries.count { entries[number] = entry } else { entries.append(entry) }
    return number
  }

  /// Removes a target; its number is given to another one.
  mutating func remove(_ id: String) {
    guard let number = numbers.removeValue(forKey: id) else { return }
    entries[number] = nil
    free.append(number)
  }
}

/// A set of small numbers: one bit each.
struct GateNumberSet {
  private var words: [UInt64] = []

  /// Adds a number, or removes it.
  mutating func set(_ number: Int, to isMember: Bool) {
    let (word, bit) = (number / UInt64.bitWidth, UInt64(1) << UInt64(number % UInt64.bitWidth))
    if isMember {
      if word >= words.count { words += [UInt64](repeating: 0, count: word + 1 - words.count) }
      words[word] |= bit
    } else if word < words.count {
      words[word] &= ~bit
    }
  }

  /// The numbers in order.
  var numbers: [Int] {
    var numbers: [Int] = []
    for (word, bits) in words.enumerated() {
      var bits = bits
      while bits != 0 {
        numbers.append(word * UInt64.bitWidth + bits.trailingZeroBitCount)
        bits &= bits - 1
      }
    }
    return numbers
  }
}
