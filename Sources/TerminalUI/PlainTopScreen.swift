internal import ReachabilityModel

/// The state of a service as plain lines, for `reachd top --once`.
package enum PlainTopScreen {
  /// Returns the verdict, the path of each family, the number of targets in each state, the gates, and a line for each target
  /// in the order of the list; the lines of targets are those of `reachd targets`.
  package static func lines(_ service: TopServiceState) -> [String] {
    var lines: [String] = []
    if let machine = service.machine {
      lines.append([machine.status, machine.connectionType, machine.reason].compactMap(\.self).joined(separator: " "))
      for (name, path) in machine.families {
        lines.append([name, path.status, path.detail].filter { !$0.isEmpty }.joined(separator: " "))
      }
    }
    var counts = TopTargetEntry.states.compactMap { state in
      service.counts[state].flatMap { $0 > 0 ? "\($0) \(state.rawValue)" : nil }
    }
    if service.partialCount > 0 { counts.append("\(service.partialCount) partial") }
    lines.append("targets: \(counts.isEmpty ? "none" : counts.joined(separator: ", "))")
    if !service.gates.isEmpty { lines.append("gates: \(service.gates.map(gate).joined(separator: ", "))") }
    return (lines + service.targets.map(line)).map(\.withoutControls)
  }

  private static func gate(_ gate: TopGate) -> String {
    [gate.id, gate.isOpen ? "open" : "closed", gate.reason].compactMap(\.self).joined(separator: " ")
  }

  private static func line(_ target: TopTargetEntry) -> String {
    var words = [target.word, target.id, target.target]
    if target.state != .up, let reason = target.reason { words.append(reason) }
    if target.isPending { words.append("pending") }
    if target.isFlapping { words.append("flapping") }
    return (words + ["since", Timestamp(microseconds: target.since * 1000).description]).joined(separator: " ")
  }
}
