/// Elements that stand in line: taken from the front in the order in which they came.
struct Line<Element> {
  private var places: [Element?] = []
  private var head = 0

  var isEmpty: Bool { head == places.count }
  var count: Int { places.count - head }

  mutating func append(_ element: Element) { places.append(element) }

  mutating func popFirst() -> Element? {
    guard head < places.count else { return nil }
    let first = places[head].take()
    head += 1
    // The places of those who left are given back in great pieces, not one by one.
    if head == places.count {
      places.removeAll(keepingCapacity: head <= Limits.placesKept)
      head = 0
    } else if head > Limits.placesKept, head * 2 > places.count {
      places.removeFirst(head)
      head = 0
    }
    return first
  }
}

extension Line: Sendable where Element: Sendable {}
