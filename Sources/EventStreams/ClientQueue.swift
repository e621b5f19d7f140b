internal import DequeModule

/// Elements of clients that wait, taken from one client after the other, so that a client delays the others by one element.
package struct ClientQueue<Element> {
  /// Identifies an element that waits.
  package struct Ticket: Hashable, Sendable {
    fileprivate let client: String
    fileprivate let number: UInt64
  }

  /// What becomes of a new element.
  package enum Admission {
    /// It waits; with the element of another client that no longer does.
    case added(Ticket, removing: Element?)
    /// Too many elements wait.
    case refused
  }

  private let limit: Int
  private let clientLimit: Int
  private var elements: [String: Deque<(number: UInt64, element: Element)>] = [:]
  /// The clients with elements, the next one first.
  private var turns: Deque<String> = []
  private var lastNumber: UInt64 = 0
  package private(set) var count = 0

  /// An empty queue.
  ///
  /// - Parameters:
  ///   - limit: the elements that may wait.
  ///   - clientLimit: the elements of one client that may wait.
  package init(limit: Int, clientLimit: Int) {
    self.limit = limit
    self.clientLimit = clientLimit
  }

  /// Adds an element after the others of its client; if all places are taken, in place of the newest element of the client
  /// with the most.
  package mutating func add(_ element: Element, of client: String) -> Admission {
    let own = elements[client]?.count ?? 0
    guard own < clientLimit else { return .refused }
    var removed: Element?
    if count >= limit {
      guard let other = elements.max(by: { $0.value.count < $1.value.count }), other.value.count > own + 1 else {
        return .refused
      }
      removed = other.value.last.flatMap { remove(Ticket(client: other.key, number: $0.number)) }
    }
    lastNumber += 1
    if own == 0 { turns.append(client) }
    elements[client, default: []].append((lastNumber, element))
    count += 1
    return .added(Ticket(client: client, number: lastNumber), removing: removed)
  }

  /// Takes the oldest element of the next client.
  package mutating func popNext() -> Element? {
    guard let client = turns.popFirst(), let (_, element) = elements[client]?.popFirst() else { return nil }
    count -= 1
    if elements[client]?.isEmpty == true { elements[client] = nil } else { turns.append(client) }
    return element
  }

  /// Removes an element; nil if it does not wait any more.
  @discardableResult
  package mutating func remove(_ ticket: Ticket) -> Element? {
    guard let index = elements[ticket.client]?.firstIndex(where: { $0.number == ticket.number }) else { return nil }
    let removed = elements[ticket.client]?.remove(at: index)
    count -= 1
    if elements[ticket.client]?.isEmpty == true {
      elements[ticket.client] = nil
      turns.removeAll { $0 == ticket.client }
    }
    return removed?.element
  }
}
