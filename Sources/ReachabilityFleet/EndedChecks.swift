extension FleetFold {
  /// The checks that an agent has to end although the stream has no message about their end.
  ///
  /// - Parameters:
  ///   - agent: the agent.
  ///   - checked: the ids of the fleet's targets that it checks.
  ///   - age: how long ago everything that the stream had was read.
  /// - Returns: checks of other agents, when the stream had the time to get the `hello` of each; and targets that were
  ///   deleted so long ago that the stream has dropped the deletion: their definitions would have been restated.
  public func endedChecks(of agent: String, among checked: [String], readFor age: Duration) -> Set<String> {
    guard age > FleetLimits.handOver else { return [] }
    let mesh = meshTargets(of: agent)
    return Set(
      checked.filter { id in
        FleetMesh.agent(of: id) != nil ? mesh[id] == nil : age > FleetLimits.streamAge && targets[id] == nil
      })
  }
}
