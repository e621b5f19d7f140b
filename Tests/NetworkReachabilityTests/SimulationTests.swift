import Testing

@Suite("Seeded simulation")
struct SimulationTests {
  @Test(
    "In a random life every quiet point agrees with the rules, and every subscriber with the snapshot",
    arguments: [
      1, 2, 3, 5, 8, 13, 21, 34,
    ] as [UInt64])
  func randomLife(seed: UInt64) async throws {
    var simulation = try Simulation(seed: seed)
    await simulation.run(steps: 2500)
    #expect(simulation.problems.isEmpty, "seed \(seed)")
    #expect(simulation.quietPoints > 100)
  }
}
