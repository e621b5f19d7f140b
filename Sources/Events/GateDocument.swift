package import JSONFormat
package import NetworkReachability

/// The JSON document of a gate.
///
/// This is a public format: members may be added, not changed or removed.
package enum GateDocument {
  /// Returns what clients without a token may read: the state and its reason.
  package static func state(_ report: GateReport) -> [JSON.Member] {
    let status = report.status
    return members([
      "id": .string(report.definition.id), "state": .string(status.state.rawValue),
      "reason": .text(status.reason?.rawValue),
    ])
  }

  /// Returns the state with the members that are missing, as events have it.
  package static func summary(_ report: GateReport) -> [JSON.Member] {
    let status = report.status
    let counts = GateMemberState.allCases.map {
      JSON.Member(name: $0.rawValue, value: .integer(Int64(status.counts[$0])))
    }
    return state(report)
      + members([
        "since": .string(status.since.description), "opensAt": .text(status.opensAt?.description),
        "members": .object(counts), "missing": .list(status.missing),
      ])
  }

  /// Returns the members of a definition, as a request has them.
  package static func definition(_ definition: GateDefinition) -> [JSON.Member] {
    let machine: JSON =
      switch definition.machine {
      case nil: .null
      case .reachable: .string("reachable")
      case .connectionType(let type): .members(["connectionType": .string(type.rawValue)])
      }
    let labels = definition.selection.sorted { $0.key < $1.key }.map {
      JSON.Member(name: $0.key, value: .string($0.value))
    }
    return members([
      "machine": machine, "targets": .list(definition.targets.sorted()), "select": .object(labels),
      "clients": .bool(definition.includesClients),
      "atLeast": definition.selection.isEmpty ? .null : .string(definition.atLeast.description),
      "openAfter": .string(DurationFormat.shortest(definition.openAfter)),
      "paused": .string(definition.ignoresPaused ? GateSpec.Paused.ignore.rawValue : GateSpec.Paused.close.rawValue),
    ])
  }

  /// Returns a line without its line end: `closed app missing db, cache since 2026-01-01T00:00:00.000000Z`.
  package static func line(_ document: JSON) -> String? {
    guard let state = document["state"]?.string, let id = document["id"]?.string else { return nil }
    var words = [state, id]
    if let reason = document["reason"]?.string { words.append(reason) }
    let missing = document["missing"]?.elements?.compactMap(\.string) ?? []
    if !missing.isEmpty { words.append(missing.joined(separator: ", ")) }
    if let time = document["opensAt"]?.string { words += ["opens at", time] }
    if let since = document["since"]?.string { words += ["since", since] }
    return words.joined(separator: " ").withoutControls
  }

  /// What a restart restores of a gate: a document with its definition, its origin and its state.
  package static func stored(_ report: GateReport) -> [UInt8] {
    JSON.object(
      members([
        "id": .string(report.definition.id), "origin": .string(report.origin.rawValue),
        "state": .string(report.status.state.rawValue), "since": .string(report.status.since.description),
      ]) + definition(report.definition)
    ).bytes
  }

  private static func members(_ members: KeyValuePairs<String, JSON>) -> [JSON.Member] {
    members.map { JSON.Member(name: $0.key, value: $0.value) }
  }
}
