internal import NetworkReachability
internal import ReachabilityFleet
internal import StatusAPI

extension MetricCollector {
  /// Returns the metrics of a replica: verdicts, agents, and the mesh by pairs of zones, because pairs of agents are too
  /// many series.
  static func fleet(_ fleet: FleetService) -> MetricCollector {
    MetricCollector { page in
      let snapshot = fleet.snapshot
      let fold = snapshot.fold
      page.add("reachd_fleet_connected", .gauge, "Whether the engine is connected.", snapshot.isConnected ? 1 : 0)
      page.add(
        "reachd_fleet_complete", .gauge, "Whether the replica has read everything that the engine's stream has.",
        snapshot.isComplete ? 1 : 0)
      page.add(
        "reachd_fleet_stream_sequence", .gauge, "Sequence of the last message that the replica has read.",
        fold.sequence)
      page.add(
        "reachd_fleet_stream_lag_messages", .gauge,
        "Messages that the stream has and the replica has not read, as far as it is known.",
        snapshot.lag)
      page.add(
        "reachd_fleet_stream_contact_age_seconds", .gauge,
        "Time since the stream last delivered a message or answered.",
        [.init(snapshot.age / .seconds(1))])
      page.add(
        "reachd_fleet_failed_publications_total", .counter,
        "Messages of the replica that the engine did not store, by reason.",
        FleetEngineError.Reason.allCases.map { .init(Double(snapshot.failures[$0] ?? 0), ["reason": $0.rawValue]) })
      page.add(
        "reachd_fleet_dropped_heartbeats_total", .counter,
        "Heartbeats that were dropped, because too many waited or too many nodes sent them.", snapshot.droppedHeartbeats
      )
      page.add("reachd_fleet_replicas", .gauge, "Replicas that take part.", fold.presentReplicas.count)
      page.add(
        "reachd_fleet_verdicts", .gauge, "Targets of the fleet, by verdict.",
        FleetVerdict.allCases.map { verdict in
          let count = fold.targets.values.count { ($0.verdict?.message.to ?? .unknown) == verdict }
          return .init(Double(count), ["verdict": verdict.rawValue])
        })
      page.add(
        "reachd_fleet_target_info", .gauge, "Always 1; the labels contain the verdict of a target of the fleet.",
        snapshot.targets.lazy.map { id, target in
          .init(1, ["id": id, "verdict": (target.verdict?.message.to ?? .unknown).rawValue])
        })
      agents(snapshot, &page)
      page.add(
        "reachd_fleet_requests_total", .counter, "Requests of agents to this replica, by outcome.",
        fleet.gateway.counts.outcomes.map { .init(Double($0.count), ["outcome": $0.name]) })
    }
  }

  private static func agents(_ snapshot: FleetSnapshot, _ page: inout MetricExposition) {
    let reached = snapshot.meshDecisions
    page.add(
      "reachd_fleet_agent_info", .gauge,
      "Always 1; the labels contain the state of an agent, and the verdict of the agents that check it.",
      snapshot.agents.lazy.map { id, node in
        .init(
          1,
          [
            "agent": id, "zone": node.hello?.zone ?? "", "state": node.state.rawValue,
            "reached": reached[id]?.verdict.rawValue ?? "",
          ])
      })
    page.add(
      "reachd_fleet_agent_outbox_events", .gauge,
      "Events of an agent that waited for the engine at its last heartbeat.",
      snapshot.agents.lazy.compactMap { id, _ in
        snapshot.outbox(of: id).map { .init(Double($0), ["agent": id]) }
      })
    page.add(
      "reachd_fleet_agent_gaps_total", .counter, "How often events of an agent were missing in the stream.",
      snapshot.agents.lazy.map { id, node in .init(Double(node.holes), ["agent": id]) })
    page.add(
      "reachd_fleet_zone_pairs", .gauge,
      "Pairs of agents of which the one in zone `from` checks the one in zone `to`, by the state that it reports.",
      FleetZoneMatrix(snapshot, subjects: .agents).groups.lazy.flatMap { group in
        group.counts.map { .init(Double($0.count), ["from": group.from, "to": group.to, "state": $0.state.rawValue]) }
      })
  }
}
