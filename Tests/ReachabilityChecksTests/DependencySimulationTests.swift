import NetworkReachability
import ReachabilityModel
import TestSupport
import Testing

@testable import ReachabilityChecks

/// What holds whatever changes.
@Suite("Simulation of dependencies")
struct DependencySimulationTests {
  /// How many sequences of changes are made: a few, unless more are asked for.
  private static let seeds = Program.environmentVariable("REACHD_SEEDS").flatMap { UInt64($0) } ?? 6

  @Test("Slots are returned, waits end, and failures have their cause", arguments: 1...seeds)
  func random(seed: UInt64) throws {
    var simulation = try DependencySimulation(seed: seed)
    try simulation.run(for: .seconds(600))
    simulation.finish()
    #expect(simulation.violations == [], "seed \(seed)")
    #expect(simulation.state.dependencies.running == 0)
    #expect(simulation.waits > 0, "nothing was simulated")
  }

  @Test("A parent whose question was answered meanwhile is checked once")
  func answeredMeanwhile() {
    var questions = DependencyQuestions()
    questions.add("a", since: .seconds(1), to: "router", deadline: .seconds(60), earliest: .seconds(5))
    #expect(questions.answer("router") { _ in true } == ["a"])
    questions.add("b", since: .seconds(3), to: "router", deadline: .seconds(60), earliest: .seconds(5))
    #expect(questions.takeReady(at: .seconds(5), limit: 10) == ["router"])
  }

  @Test("A child that joins a question late waits for the check that follows")
  func joined() {
    var questions = DependencyQuestions()
    questions.add("a", since: .seconds(1), to: "router", deadline: .seconds(61), earliest: .seconds(1))
    #expect(questions.takeReady(at: .seconds(1), limit: 10) == ["router"])
    questions.begin("router", deadline: .seconds(6))
    questions.add("b", since: .seconds(5), to: "router", deadline: .seconds(65), earliest: .seconds(5))
    #expect(questions.answer("router") { $0 <= .seconds(1) } == ["a"])
    questions.ask("router", again: .milliseconds(5_500))
    #expect(questions.takeReady(at: .milliseconds(5_500), limit: 10) == ["router"])
    questions.begin("router", deadline: .milliseconds(10_500))
    #expect(questions.takeExpired(at: .seconds(7)).isEmpty)
    #expect(questions.takeExpired(at: .seconds(11)).map(\.children) == [["b"]])
  }
}
