import EventStreams
import Testing

@Suite("ClientQueue") struct ClientQueueTests {
  private func add(_ element: String, of client: String, to queue: inout ClientQueue<String>) -> String? {
    switch queue.add(element, of: client) {
    case .added(_, let removed): removed.map { "removed \($0)" } ?? "added"
    case .refused: nil
    }
  }

  private func all(_ queue: ClientQueue<String>) -> [String] {
    var queue = queue
    return Array(sequence(state: ()) { _ in queue.popNext() })
  }

  @Test func clientsTakeTurns() {
    var queue = ClientQueue<String>(limit: 10, clientLimit: 10)
    for element in ["a1", "a2", "a3", "b1", "c1", "b2"] {
      #expect(add(element, of: String(element.prefix(1)), to: &queue) == "added")
    }
    #expect(queue.count == 6)
    #expect(all(queue) == ["a1", "b1", "c1", "a2", "b2", "a3"])
    #expect(queue.popNext() == "a1")
    #expect(add("d1", of: "d", to: &queue) == "added")
    #expect(all(queue) == ["b1", "c1", "a2", "d1", "b2", "a3"])
  }

  @Test func oneClientHasALimit() {
    var queue = ClientQueue<String>(limit: 10, clientLimit: 2)
    #expect(add("a1", of: "a", to: &queue) == "added")
    #expect(add("a2", of: "a", to: &queue) == "added")
    #expect(add("a3", of: "a", to: &queue) == nil)
    #expect(add("b1", of: "b", to: &queue) == "added")
    #expect(queue.popNext() == "a1")
    #expect(add("a3", of: "a", to: &queue) == "added")
    #expect(all(queue) == ["b1", "a2", "a3"])
  }

  @Test func fullQueueKeepsAPlaceForClientsWithFewElements() {
    var queue = ClientQueue<String>(limit: 4, clientLimit: 4)
    for element in ["a1", "a2", "a3", "b1"] { _ = add(element, of: String(element.prefix(1)), to: &queue) }
    #expect(add("c1", of: "c", to: &queue) == "removed a3")
    #expect(add("c2", of: "c", to: &queue) == nil, "no other client has more")
    #expect(add("b2", of: "b", to: &queue) == nil)
    #expect(queue.count == 4)
    #expect(all(queue) == ["a1", "b1", "c1", "a2"])
  }

  @Test func removedElementsAreNotTaken() {
    var queue = ClientQueue<String>(limit: 10, clientLimit: 10)
    guard case .added(let first, nil) = queue.add("a1", of: "a"), case .added(let other, nil) = queue.add("b1", of: "b")
    else {
      Issue.record("not added")
      return
    }
    _ = queue.add("b2", of: "b")
    #expect(queue.remove(first) == "a1")
    #expect(queue.remove(first) == nil)
    #expect(queue.remove(other) == "b1")
    #expect(all(queue) == ["b2"])
    #expect(queue.popNext() == "b2" && queue.popNext() == nil && queue.count == 0)
    #expect(queue.remove(other) == nil)
  }
}
