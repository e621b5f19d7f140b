internal import JSONFormat
internal import NetworkReachability
internal import ReachabilityFleet
internal import StatusAPI

/// The JSON documents of the fleet.
///
/// This is a public format: members may be added, not changed or removed.
enum FleetRepresentation {
  /// `/fleet`: counts.
  static func overview(_ snapshot: FleetSnapshot, replica: String) -> JSON {
    let fold = snapshot.fold
    let verdicts = FleetVerdict.allCases.map { verdict in
      JSON.Member(
        verdict.rawValue, count: fold.targets.values.count { ($0.verdict?.message.to ?? .unknown) == verdict })
    }
    let states = FleetNodeState.allCases.filter { $0 != .left }.map { state in
      JSON.Member(state.rawValue, count: fold.nodes.values.count { $0.isAgent && $0.state == state })
    }
    return .object([
      .init("replica", text: replica), .init("lastEventId", text: snapshot.last.description),
      .init(
        "engine",
        .members([
          "connected": .bool(snapshot.isConnected), "complete": .bool(snapshot.isComplete),
          "sequence": .integer(Int64(clamping: fold.sequence)), "lag": .integer(Int64(clamping: snapshot.lag)),
          "age": .integer(snapshot.age.wholeSeconds),
        ])),
      .init("agents", .object(states)), .init("replicas", .list(fold.presentReplicas.sorted())),
      .init("targets", count: fold.targets.count), .init("verdicts", .object(verdicts)),
    ])
  }

  /// An agent, with what the others say about it.
  static func agent(
    _ id: String, _ node: FleetFoldedNode, _ snapshot: FleetSnapshot, _ reached: FleetQuorumRules.Decision?
  ) -> JSON {
    let cells = TargetState.allCases.map { state in
      JSON.Member(state.rawValue, count: node.cells.keys.count { node.vote($0)?.state == state })
    }
    let hello = node.hello ?? NodeHello(role: .agent, version: "")
    return .object([
      .init("id", text: id), .init("state", text: node.state.rawValue),
      .init("since", text: Timestamp(nanoseconds: node.since).description), .init("zone", text: hello.zone),
      .init("labels", texts: hello.labels), .init("address", .text(hello.address)),
      .init("version", text: hello.version),
      .init("outbox", snapshot.outbox(of: id).map { .integer(Int64($0)) } ?? .null),
      .init("awaitingBase", .bool(node.awaitsBase)), .init("gaps", count: node.holes), .init("cells", .object(cells)),
      .init("reached", reached.map(self.reached) ?? .null),
    ])
  }

  private static func reached(_ decision: FleetQuorumRules.Decision) -> JSON {
    .object([
      .init("verdict", text: decision.verdict.rawValue), .init("votes", FleetWire.encode(decision.votes)),
      .init("downFrom", .list(decision.downFrom)),
    ])
  }

  /// A target with its verdict; with the votes of each assigned agent if `isWhole`.
  static func target(
    _ id: String, _ target: FleetFoldedTarget, _ snapshot: FleetSnapshot, _ visibility: TargetVisibility, isWhole: Bool
  ) -> JSON {
    let decision = snapshot.fold.decision(for: id)
    let verdict = target.verdict
    var members: [JSON.Member] =
      [.init("id", text: id)] + FleetWire.members(target.definition, visibility) + [
        .init("version", number: target.version),
        .init("verdict", text: (verdict?.message.to ?? .unknown).rawValue),
        .init("reason", .text(reason(verdict, decision)?.rawValue)),
        .init("dependency", .text(verdict?.message.dependency)),
        .init("since", text: Timestamp(nanoseconds: verdict?.since ?? target.definitionTime).description),
        .init("votes", FleetWire.encode(decision?.votes ?? FleetVoteCounts())),
        .init(
          "needed",
          .members([
            "down": .integer(Int64(decision?.quorum ?? 0)), "minimum": .integer(Int64(decision?.minimum ?? 0)),
          ])),
        .init("downFrom", .list(decision?.downFrom ?? [])),
      ]
    if isWhole {
      members.append(
        .init("vantages", .array(target.assigned.map { .object(vantage(id, $0, snapshot.fold.nodes[$0])) })))
    }
    return .object(members)
  }

  /// Why a verdict is what it is; without a decision by votes there is no message, but a reason.
  private static func reason(_ verdict: FleetAcceptedVerdict?, _ decision: FleetQuorumRules.Decision?) -> Reason? {
    guard let message = verdict?.message, message.to != .unknown else { return decision?.reason ?? .starting }
    return message.reason
  }

  static func cell(_ target: String, _ agent: String, _ node: FleetFoldedNode?) -> JSON {
    .object([.init("target", text: target)] + vantage(target, agent, node))
  }

  private static func vantage(_ target: String, _ agent: String, _ node: FleetFoldedNode?) -> [JSON.Member] {
    let cell = node?.vote(target)
    return [
      .init("agent", text: agent), .init("zone", text: node?.hello?.zone ?? ""),
      .init("state", text: (cell?.state ?? .unknown).rawValue),
      .init("reason", .text(cell == nil ? Reason.starting.rawValue : cell?.reason?.rawValue)),
      .init("since", .text(cell?.since.description)),
    ]
  }
}
