import ReachabilityModel
import Testing

@testable import Webhooks

// Answers of 401, 403 and 404.
extension WebhookDeliveryStateTests {
  @Test("A receiver that denies access holds the messages for a time", arguments: [401, 403, 404])
  func denied(status: Int) {
    var state = Self.sending()
    state.maximumAge = .seconds(100_000)
    var seconds = 0.0
    // The last attempt before the time is over.
    while seconds + 600 < 3_600 {
      #expect(sent(answer(&state, status, at: seconds)) == [])
      seconds += 600
      #expect(sent(state.advance(Self.moment(seconds))) == ["e-1"])
    }
    seconds = 3_599
    #expect(sent(answer(&state, status, at: seconds)) == [])
    #expect(sent(state.advance(Self.moment(4_200))) == ["e-1"])
    let effects = answer(&state, status, at: 4_200)
    #expect(effects.contains { if case .record(let record) = $0 { record.result == .deadLetter } else { false } })
    #expect(sent(effects) == ["e-2"])
    // The time begins again with the next message.
    #expect(sent(answer(&state, status, at: 4_201)) == [])
  }

  @Test("A receiver that grants access again gets the message that it denied")
  func deniedForAWhile() {
    var state = Self.sending()
    state.maximumAge = .seconds(100_000)
    for seconds in [0.0, 600, 1_200, 1_800, 2_400, 3_000] {
      #expect(sent(answer(&state, 401, at: seconds)) == [])
      #expect(sent(state.advance(Self.moment(seconds + 600))) == ["e-1"])
    }
    #expect(sent(answer(&state, 204, at: 3_601)) == ["e-2"])
  }

  @Test("Without a time, a denied message is given up as a rejected one")
  func deniedWithoutTime() {
    var state = Self.sending()
    state.deniedRetry = .zero
    var seconds = 0.0
    for _ in 0..<4 {
      #expect(sent(answer(&state, 403, at: seconds)) == [])
      seconds += 200
      _ = state.advance(Self.moment(seconds))
    }
    let effects = answer(&state, 403, at: seconds)
    #expect(effects.contains { if case .record(let record) = $0 { record.result == .deadLetter } else { false } })
  }
}
