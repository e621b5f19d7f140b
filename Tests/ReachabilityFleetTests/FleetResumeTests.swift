import ReachabilityFleet
import Testing

@Suite("FleetResume")
struct FleetResumeTests {
  private func event(_ number: UInt64, check: UInt32) -> FleetEvent {
    FleetEvent(
      id: FleetEventID(epoch: 7, number: number, check: check), time: 0,
      content: .gap(agent: "a", after: 0, before: 0))
  }

  private func resume(
    _ window: FleetEventWindow, _ number: UInt64, check: UInt32, epoch: UInt32 = 7, isComplete: Bool = true
  ) -> FleetResume {
    FleetResume(
      after: FleetEventID(epoch: epoch, number: number, check: check), epoch: 7, folded: 10, isComplete: isComplete,
      oldest: window.oldest, check: window.check(of:))
  }

  @Test("An id is continued when this replica has the same event, and everything after it")
  func resume() {
    var window = FleetEventWindow(limit: 3)
    window.begin(at: 1)
    for sequence in 1...5 as ClosedRange<UInt64> {
      window.append(event(sequence * 256, check: UInt32(sequence)))
    }
    #expect(window.oldest == 2 * 256)
    #expect(resume(window, 4 * 256, check: 4) == .replay)
    #expect(resume(window, 4 * 256, check: 5) == .gap(.otherHistory))
    #expect(resume(window, 4 * 256 + 1, check: 4) == .gap(.otherHistory))
    #expect(resume(window, 4 * 256, check: 4, epoch: 8) == .gap(.otherHistory))
    #expect(resume(window, 2 * 256, check: 2) == .replay)
    #expect(resume(window, 1 * 256, check: 1) == .gap(.tooOld))
    #expect(resume(window, 11 * 256, check: 1) == .wait)
    #expect(window.events(after: 4 * 256).map(\.id.check) == [5])
    #expect(window.events(after: 2 * 256, limit: 2).map(\.id.check) == [3, 4])
  }

  @Test("A replica that has not read the whole stream continues ids that it has, and denies none")
  func incomplete() {
    var window = FleetEventWindow(limit: 3)
    window.begin(at: 1)
    for sequence in 1...5 as ClosedRange<UInt64> {
      window.append(event(sequence * 256, check: UInt32(sequence)))
    }
    #expect(resume(window, 4 * 256, check: 4, isComplete: false) == .replay)
    #expect(resume(window, 4 * 256, check: 5, isComplete: false) == .wait)
    #expect(resume(window, 4 * 256, check: 4, epoch: 8, isComplete: false) == .wait)
    #expect(resume(window, 1 * 256, check: 1, isComplete: false) == .wait)
  }

  @Test("The id before the first event of a stream is continued")
  func beginning() {
    var window = FleetEventWindow(limit: 3)
    window.begin(at: 1)
    window.append(event(256, check: 1))
    #expect(resume(window, 0, check: 0) == .replay)
    window = FleetEventWindow(limit: 3)
    window.begin(at: 5)
    #expect(resume(window, 0, check: 0) == .gap(.tooOld))
  }

  @Test("The event before the oldest is compared if its check is kept", arguments: [true, false])
  func evicted(isComplete: Bool) {
    func resume(check: UInt32, kept: UInt32?) -> FleetResume {
      FleetResume(
        after: FleetEventID(epoch: 7, number: 512, check: check), epoch: 7, folded: 10, isComplete: isComplete,
        oldest: 512, check: { $0 == 512 ? kept : nil })
    }
    #expect(resume(check: 2, kept: 2) == .replay && resume(check: 3, kept: nil) == .replay)
    #expect(resume(check: 3, kept: 2) == (isComplete ? .gap(.otherHistory) : .wait))
  }

  @Test("Ids are read strictly", arguments: ["", "0-1-2", "0000000a-1", "0000000a-+1-00000000", "0000000A-1-00000000"])
  func ids(_ text: String) { #expect(FleetEventID(text) == nil) }

  @Test("An id is written and read")
  func text() {
    let id = FleetEventID(epoch: 0xa, number: 812, check: 0xffff_ffff)
    #expect(id.description == "0000000a-812-ffffffff")
    #expect(FleetEventID(id.description) == id)
  }
}
