package import JSONFormat
internal import ReachabilityModel

/// Documents of a replica of a fleet as text.
package enum FleetFormatter {
  /// The verdicts of a fleet's target.
  package static let verdicts = ["up", "down", "partial", "unreachable", "unknown", "paused"]

  /// Returns the verdict and the line of a target in a page of `GET /fleet/targets`, such as
  /// `partial db tcp://10.9.0.1:5432 1 of 3 agents: node3 since 2026-01-01T00:00:00.000000Z`; nil for an invalid document.
  package static func line(_ document: JSON) -> (verdict: String, line: String)? {
    guard let verdict = document["verdict"]?.string, verdicts.contains(verdict), let id = document["id"]?.string,
      let target = document["target"]?.string, let since = document["since"]?.string
    else { return nil }
    let words = [verdict, id, target, reason(document), "since", since].compactMap(\.self)
    return (verdict, words.joined(separator: " ").withoutControls)
  }

  /// Returns why a target is not up: the agents that say `down`, else the reason; nil for neither.
  package static func reason(_ document: JSON) -> String? {
    guard ["down", "partial"].contains(document["verdict"]?.string), let votes = document["votes"],
      case .integer(let down)? = votes["down"], case .integer(let assigned)? = votes["assigned"]
    else { return document["reason"]?.string }
    let agents = (document["downFrom"]?.elements ?? []).compactMap(\.string).joined(separator: ",")
    return "\(down) of \(assigned) agents" + (agents.isEmpty ? "" : ": \(agents)")
  }

  /// Returns the line of `GET /fleet`, such as `fleet: agents 3 present, 1 lost; targets 4 up, 1 partial; engine connected`;
  /// nil for an invalid document.
  package static func line(ofFleet document: JSON) -> String? {
    guard let agents = document["agents"]?.members, let verdicts = document["verdicts"]?.members,
      let engine = document["engine"], case .bool(let isConnected)? = engine["connected"]
    else { return nil }
    func counts(_ members: [JSON.Member], always: [String]) -> String {
      let parts = members.compactMap { member -> String? in
        guard case .integer(let count) = member.value, count > 0 || always.contains(member.name) else { return nil }
        return "\(count) \(member.name)"
      }
      return parts.isEmpty ? "none" : parts.joined(separator: ", ")
    }
    var line = "fleet: agents \(counts(agents, always: ["present"])); targets \(counts(verdicts, always: []))"
    line += isConnected ? "; engine connected" : "; engine not connected"
    // The same limit as that of the replica's readiness.
    if case .integer(let age)? = engine["age"], age > 5 { line += "; the state is \(age) s old" }
    return line.withoutControls
  }
}
