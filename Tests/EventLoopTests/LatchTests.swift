import Locks
import Testing

@Suite("Latches")
struct LatchTests {
  @Test("A wait with a time limit ends when the latch opens")
  func opens() {
    let latch = Latch()
    let thread = Task.detached { latch.open() }
    defer { thread.cancel() }
    #expect(latch.wait(atMost: .seconds(60)))
    #expect(latch.wait(atMost: .zero), "it stays open")
  }

  @Test("A wait for a closed latch ends at its limit", arguments: [Duration.seconds(-1), .zero, .milliseconds(1)])
  func ends(_ limit: Duration) {
    #expect(!Latch().wait(atMost: limit))
  }
}
