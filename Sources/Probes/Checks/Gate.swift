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
  /// Those whom only the capacity holds back, from `head` on.
  private var line: [Place] = []
  private var head = 0
  /// Those who wait for one address.
  private var lines: [IPAddress: [UInt64]] = [:]
  private var waiting = 0

  init(capacity: Int, perAddress: Int, longestLine: Int) {
    self.capacity = capacity
    self.perAddress = perAddress
    self.longestLine = longestLine
  }

  /// Asks for a place; without an address only the capacity counts.
  mutating func enter(_ id: UInt64, _ address: IPAddress? = nil) -> Verdict {
    if hasRoom(address), inside < capacity, head == line.count {
      count(address, 1)
      return .enter
    }
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
    count(address, -1)
    if let address, let next = lines[address]?.first {
      lines[address]?.removeFirst()
      if lines[address]?.isEmpty == true { lines[address] = nil }
      line.append(Place(id: next, address: address))
    }
    var entered: [UInt64] = []
    while inside < capacity, head < line.count {
      let place = line[head]
      head += 1
      guard isWaiting(place.id) else {
        waiting -= 1
        // Its turn was the address' turn as well.
        if let address = place.address, let next = lines[address]?.first {
          lines[address]?.removeFirst()
          if lines[address]?.isEmpty == true { lines[address] = nil }
          line.append(Place(id: next, address: address))
        }
        continue
      }
      guard hasRoom(place.address) else {
        stand(place)
        continue
      }
      waiting -= 1
      count(place.address, 1)
      entered.append(place.id)
    }
    // The part of the line that is served is given back in great pieces, not one by one.
    if head > 1_024, head * 2 > line.count || head == line.count {
      line.removeFirst(head)
      head = 0
    }
    return entered
  }

  private func hasRoom(_ address: IPAddress?) -> Bool {
    guard let address else { return true }
    return insideAt[address, default: 0] < perAddress
  }

  private mutating func stand(_ place: Place) {
    if let address = place.address, !hasRoom(address) {
      lines[address, default: []].append(place.id)
    } else {
      line.append(place)
    }
  }

  private mutating func count(_ address: IPAddress?, _ change: Int) {
    inside += change
    guard let address else { return }
    let now = insideAt[address, default: 0] + change
    insideAt[address] = now > 0 ? now : nil
  }
}
