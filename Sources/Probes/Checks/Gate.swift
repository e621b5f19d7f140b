internal import ReachabilityModel

/// How many may be inside at once, all together and for one address; the others stand in line.
///
/// A value: who is inside is only counted, and whoever waits is known by its number alone.
struct Gate {
  enum Verdict: Equatable {
    case enter, wait
    /// The line is as long as it may be.
    case refuse
  }

  private struct Place {
    let id: UInt64
    let address: IPAddress?
  }

  private let capacity: Int
  private let perAddress: Int
  private let longestLine: Int
  private var inside = 0
  private var insideAt: [IPAddress: Int] = [:]
  /// Those whom only the capacity holds back.
  private var line = Line<Place>()
  /// Those who wait for one address.
  private var lines: [IPAddress: Line<UInt64>] = [:]
  private var waiting = 0

  init(capacity: Int, perAddress: Int, longestLine: Int) {
    self.capacity = capacity
    self.perAddress = perAddress
    self.longestLine = longestLine
  }

  /// Asks for a place; without an address only the capacity counts.
  mutating func enter(_ id: UInt64, _ address: IPAddress? = nil) -> Verdict {
    if inside < capacity, line.isEmpty, count(in: address) { return .enter }
    guard waiting < longestLine else { return .refuse }
    waiting += 1
    stand(Place(id: id, address: address))
    return .wait
  }

  /// Gives a place back, and to those who waited for it.
  ///
  /// - Parameters:
  ///   - address: the one that it was taken with.
  ///   - isWaiting: false for those who went away while they stood in line.
  /// - Returns: who has a place now.
  mutating func leave(_ address: IPAddress? = nil, isWaiting: (UInt64) -> Bool) -> [UInt64] {
    count(out: address)
    call(address)
    var entered: [UInt64] = []
    while inside < capacity, let place = line.popFirst() {
      guard isWaiting(place.id) else {
        waiting -= 1
        // Its turn was the address' turn as well.
        call(place.address)
        continue
      }
      guard count(in: place.address) else {
        stand(place)
        continue
      }
      waiting -= 1
      entered.append(place.id)
    }
    return entered
  }

  private func hasRoom(_ address: IPAddress?) -> Bool {
    guard let address else { return true }
    return insideAt[address, default: 0] < perAddress
  }

  private mutating func stand(_ place: Place) {
    if let address = place.address, !hasRoom(address) {
      lines[address, default: Line()].append(place.id)
    } else {
      line.append(place)
    }
  }

  /// Lets the next one of those who wait for an address stand in the line of all.
  private mutating func call(_ address: IPAddress?) {
    guard !lines.isEmpty, let address, let next = lines[address]?.popFirst() else { return }
    if lines[address]?.isEmpty == true { lines[address] = nil }
    line.append(Place(id: next, address: address))
  }

  /// Counts one more inside; false if its address has no room.
  private mutating func count(in address: IPAddress?) -> Bool {
    // Looked up only once: this is done for every check.
    if let address, !Self.increase(&insideAt[address, default: 0], to: perAddress) { return false }
    inside += 1
    return true
  }

  private static func increase(_ number: inout Int, to limit: Int) -> Bool {
    guard number < limit else { return false }
    number += 1
    return true
  }

  private mutating func count(out address: IPAddress?) {
    inside -= 1
    guard let address, let index = insideAt.index(forKey: address) else { return }
    if insideAt.values[index] > 1 { insideAt.values[index] -= 1 } else { insideAt.remove(at: index) }
  }
}
