internal import ReachabilityChecks

extension MetricCollector {
  static func gates(_ schedule: CheckSchedule) -> MetricCollector {
    MetricCollector { page in
      let gates = schedule.gates.reports
      page.add(
        "reachd_gate_open", .gauge, "Whether a gate is open, 1 or 0.",
        gates.map { .init($0.status.state == .open ? 1 : 0, ["gate": $0.definition.id]) })
      page.add(
        "reachd_gate_members", .gauge, "Members of a gate by their state.",
        gates.flatMap { gate in
          GateMemberState.allCases.map { state in
            .init(Double(gate.status.counts[state]), ["gate": gate.definition.id, "state": state.rawValue])
          }
        })
    }
  }
}
