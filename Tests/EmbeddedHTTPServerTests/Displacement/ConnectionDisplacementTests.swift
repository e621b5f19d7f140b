import EventLoop
import Testing

@testable import EmbeddedHTTPServer

@Suite("Order in which connections are ended")
struct ConnectionDisplacementTests {
  private typealias Candidate = ConnectionDisplacement.Candidate

  private func candidate(
    _ token: UInt64, since: Int64, _ role: ConnectionDisplacement.Role, weight: Int = 1
  ) -> Candidate {
    Candidate(token: token, since: MonotonicInstant(nanoseconds: since), role: role, weight: weight)
  }

  private func tokens(_ candidates: [Candidate], excess: Int, protecting share: Int = 0) -> [UInt64] {
    ConnectionDisplacement.choose(candidates, excess: excess, protecting: share).map(\.token)
  }

  @Test("Unfinished exchanges come first, then long polls, the oldest first")
  func order() {
    let all = [
      candidate(1, since: 5, .waiting), candidate(2, since: 9, .unfinished), candidate(3, since: 7, .unfinished),
      candidate(4, since: 1, .waiting),
    ]
    #expect(tokens(all, excess: 1) == [3])
    #expect(tokens(all, excess: 4) == [3, 2, 4, 1])
    #expect(tokens(all, excess: 100) == [3, 2, 4, 1])
    #expect(tokens(all, excess: 0).isEmpty)
    #expect(tokens([], excess: 1).isEmpty)
  }

  @Test("The newest unfinished exchanges keep their share while there are long polls")
  func share() {
    let all =
      (1...4).map { candidate($0, since: Int64($0), .unfinished, weight: 10) }
      + (5...6).map { candidate($0, since: Int64($0), .waiting, weight: 10) }
    #expect(tokens(all, excess: 30, protecting: 20) == [1, 2, 5])
    #expect(tokens(all, excess: 50, protecting: 20) == [1, 2, 5, 6, 3])
    #expect(tokens(Array(all[..<4]), excess: 40, protecting: 20) == [1, 2, 3, 4])
  }

  @Test("As few are ended as free the excess")
  func weights() {
    let all = [
      candidate(1, since: 1, .unfinished, weight: 5), candidate(2, since: 2, .unfinished, weight: 100),
      candidate(3, since: 3, .unfinished, weight: 5),
    ]
    #expect(tokens(all, excess: 5) == [1])
    #expect(tokens(all, excess: 6) == [1, 2])
  }
}
