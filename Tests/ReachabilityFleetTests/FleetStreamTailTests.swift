import ReachabilityFleet
import Testing

@Suite("StreamTail")
struct FleetStreamTailTests {
  @Test("The end of the stream is recognized when it was filled again")
  func tail() {
    func message(_ sequence: UInt64, _ text: String) -> FleetEngineStoredMessage {
      FleetEngineStoredMessage(subject: "rx2.ev.a", sequence: sequence, time: 5, payload: Array(text.utf8))
    }
    var tail = FleetStreamTail()
    #expect(tail.start == 1)
    #expect(tail.take(message(1, "a")) == .next)
    #expect(tail.take(message(3, "b")) == .next)
    #expect(tail.start == 3)
    #expect(tail.take(message(3, "b")) == .known)
    #expect(tail.take(message(2, "x")) == .known)
    #expect(tail.take(message(3, "c")) == .fork)
    #expect(tail.isBeyond(FleetEngineStreamState(created: 0, first: 1, last: 2), requestedAt: 3))
    #expect(!tail.isBeyond(FleetEngineStreamState(created: 0, first: 1, last: 3), requestedAt: 3))
    #expect(
      !tail.isBeyond(FleetEngineStreamState(created: 0, first: 1, last: 2), requestedAt: 2),
      "the answer is older than 3")
  }
}
