import HostResolver
import ReachabilityModel
import Testing

@testable import Probers

@Suite struct ProberConcurrencyLimiterTests {
  private let one = IPAddress(ipv4: 1)
  private let two = IPAddress(ipv4: 2)

  @Test func theCapacityIsKeptAndTheQueueIsServedInOrder() {
    var limiter = ProberConcurrencyLimiter(capacity: 2, perAddress: 9, queueLimit: 9)
    #expect((1...4).map { limiter.acquire($0) } == [.granted, .granted, .queued, .queued])
    #expect(limiter.release { _ in true } == [3])
    #expect(limiter.release { _ in true } == [4])
    #expect(limiter.release { _ in true }.isEmpty)
    #expect(limiter.acquire(5) == .granted)
  }

  @Test func oneAddressDoesNotHoldUpTheOthers() {
    var limiter = ProberConcurrencyLimiter(capacity: 9, perAddress: 1, queueLimit: 9)
    #expect(limiter.acquire(1, one) == .granted)
    #expect(limiter.acquire(2, one) == .queued)
    #expect(limiter.acquire(3, two) == .granted)
    #expect(limiter.release(two) { _ in true }.isEmpty)
    #expect(limiter.release(one) { _ in true } == [2])
  }

  @Test func theQueueHasALimit() {
    var limiter = ProberConcurrencyLimiter(capacity: 1, perAddress: 1, queueLimit: 2)
    #expect((1...4).map { limiter.acquire($0, one) } == [.granted, .queued, .queued, .refused])
    #expect(limiter.release(one) { _ in true } == [2])
    #expect(limiter.acquire(5, two) == .queued)
    #expect(limiter.acquire(6, two) == .refused)
  }

  @Test func cancelledChecksAreSkipped() {
    var limiter = ProberConcurrencyLimiter(capacity: 9, perAddress: 1, queueLimit: 9)
    #expect((1...4).map { limiter.acquire($0, one) } == [.granted, .queued, .queued, .queued])
    #expect(limiter.release(one) { $0 == 4 } == [4])
    #expect(limiter.release(one) { _ in true }.isEmpty)
    #expect(limiter.acquire(5, one) == .granted)
  }

  @Test("The limits hold and every check runs")
  func anyOrder() {
    var random = SystemRandomNumberGenerator()
    var limiter = ProberConcurrencyLimiter(capacity: 5, perAddress: 2, queueLimit: 1_000)
    var running: [UInt64: IPAddress] = [:]
    var waiting: [UInt64: IPAddress] = [:]
    func finish(_ id: UInt64) {
      guard let address = running.removeValue(forKey: id) else { return }
      for next in limiter.release(address, isWaiting: { waiting[$0] != nil }) {
        running[next] = waiting.removeValue(forKey: next)
      }
    }
    for id in 1...UInt64(900) {
      let address = IPAddress(ipv4: UInt32.random(in: 1...4, using: &random))
      switch limiter.acquire(id, address) {
      case .granted: running[id] = address
      case .queued: waiting[id] = address
      case .refused: Issue.record("the queue is not full")
      }
      if Bool.random(using: &random), let id = running.keys.randomElement(using: &random) { finish(id) }
      if Int.random(in: 0..<10, using: &random) == 0, let id = waiting.keys.randomElement(using: &random) {
        waiting[id] = nil
      }
      #expect(running.count <= 5)
      #expect(Dictionary(grouping: running.values, by: \.self).values.allSatisfy { $0.count <= 2 })
    }
    for _ in 0..<900 { if let id = running.keys.first { finish(id) } }
    #expect(running.isEmpty)
    #expect(waiting.isEmpty)
  }
}
