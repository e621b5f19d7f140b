import TestSupport
import Testing

@Suite("Seeded simulation")
struct SimulationTests {
  /// `REACHD_SIMULATION_STEPS` sets how many steps all seeds make together.
  static let steps = ProcessEnvironment.number("REACHD_SIMULATION_STEPS") ?? 20_000

  @Test(
    "Random changes agree with the rules and all subscribers",
    arguments: [
      1, 2, 3, 5, 8, 13, 21, 34,
    ] as [UInt64])
  func randomLife(seed: UInt64) async throws {
    var simulation = try Simulation(seed: seed)
    await simulation.run(steps: Self.steps / 8)
    #expect(simulation.problems.isEmpty, "seed \(seed)")
    #expect(simulation.quietPoints > 100)
  }
}
