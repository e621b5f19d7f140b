import ReachabilityFleet
import TestSupport
import Testing

@testable import FleetAPI

extension FleetGatewayTests {
  @Test(
    "A second process is admitted only after silence, not when the question was not asked or its answer is another one")
  func duplicateQuestion() throws {
    guard case .stored(let sequence) = try ask(Self.hello(1)) else { return #expect(Bool(false)) }
    try fleet.waitUntil { $0.fold.nodes["a"]?.isAgent == true }
    for error in [FleetEngineError.failed("too many requests"), .disconnected, .full] {
      engine.failRequests(error)
      guard case .failed = try ask(Self.hello(2)) else { return #expect(Bool(false), "\(error)") }
    }
    engine.failRequests(nil)
    for reply in [Array("junk".utf8), FleetWire.encode(AgentReply.accepted), []] {
      engine.answer("a") { _ in reply }
      guard case .failed = try ask(Self.hello(2)) else { return #expect(Bool(false), "\(reply)") }
    }
    #expect(engine.messages("rx2.roster.node.a").last?.sequence == sequence)
    engine.answer("a") { _ in nil }
    engine.failRequests(.timedOut)
    guard case .stored = try ask(Self.hello(2)) else { return #expect(Bool(false)) }
  }
}
