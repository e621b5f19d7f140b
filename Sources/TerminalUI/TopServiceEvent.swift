package import JSONFormat
internal import ReachabilityModel

/// A change that a service has reported, as its line in the list of events.
package struct TopServiceEvent: Sendable, Equatable {
  /// The id of the event; nil if it has none.
  package var id: String?
  /// When, in milliseconds since 1970.
  package var time: Int64
  /// The id of the target; nil for the machine and its interfaces.
  package var targetID: String?
  /// What changed: an id, an interface, `machine`.
  package var subject: String
  /// The state before, if it differs.
  package var from: String?
  /// The state after.
  package var to: String
  /// Why: the reason, else the causes.
  package var reason: String

  /// Reads the data of an event; nil if the event is not a change.
  package init?(type: String, _ data: JSON) {
    guard let time = data["time"]?.string.flatMap({ Timestamp($0) }) else { return nil }
    self.time = time.microseconds / 1000
    id = data["id"]?.string
    let causes = (data["cause"]?.elements ?? []).compactMap(\.string).filter { $0 != "check" }.joined(separator: ", ")
    let isRemoved = data["removed"] == .bool(true)
    switch type {
    case "target":
      guard let id = data["target"]?["id"]?.string, let state = data["to"]?.string else { return nil }
      (targetID, subject) = (id, id)
      from = data["from"]?.string.flatMap { $0 == state || isRemoved ? nil : $0 }
      to = isRemoved ? "removed" : state
      reason = data["reason"]?.string ?? causes
    case "status":
      guard let status = data["to"]?["status"]?.string else { return nil }
      subject = "machine"
      from = data["from"]?["status"]?.string.flatMap { $0 == status ? nil : $0 }
      to = status
      reason = [data["status"]?["reason"]?.string, causes].compactMap { $0 == "" ? nil : $0 }.joined(separator: ", ")
    case "path":
      guard let machine = data["status"].flatMap(TopMachineState.init) else { return nil }
      subject = "path"
      to = machine.families.map { "\($0.name) \($0.path.detail)" }.joined(separator: ", ")
      reason = causes
    case "interface":
      guard let name = data["interface"]?["name"]?.string else { return nil }
      subject = name
      let present = data["renamedTo"]?.string.map { "renamed to \($0)" }
      to = present ?? (isRemoved ? "removed" : Self.isUsable(data["interface"]) ? "is up" : "is down")
      reason = causes
    case "gate":
      guard let gate = data["gate"]?["id"]?.string else { return nil }
      let state = isRemoved ? "removed" : data["to"]?.string ?? ""
      subject = "gate \(gate)"
      from = data["from"]?.string.flatMap { $0 == state || isRemoved ? nil : $0 }
      to = state
      reason = data["reason"]?.string ?? ""
    case "verdict":
      guard let id = data["target"]?.string, let verdict = data["verdict"]?.string else { return nil }
      (targetID, subject) = (id, id)
      from = data["old"]?.string.flatMap { $0 == verdict ? nil : $0 }
      to = verdict
      reason = FleetFormatter.reason(data) ?? ""
    case "agent":
      guard let agent = data["agent"]?.string, let state = data["state"]?.string else { return nil }
      subject = agent
      to = state
      reason = ""
    default: return nil
    }
  }

  /// Whether an interface can send: one that is enabled may have no carrier.
  private static func isUsable(_ interface: JSON?) -> Bool {
    interface?["isUp"] == .bool(true)
      && !["down", "lowerLayerDown", "notPresent"].contains(interface?["operationalState"]?.string)
  }
}
