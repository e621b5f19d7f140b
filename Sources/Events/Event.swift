internal import History
package import JSONFormat
package import NetworkReachability

/// An event of this service: what happened, as clients, the history, webhooks and a fleet receive it.
package struct Event: Sendable {
  /// Its number, and the history that it belongs to.
  package let id: EventID
  package let type: EventType
  package let time: Timestamp
  /// The id of the registered target that it concerns; nil for other events.
  package let target: String?
  /// The data that clients receive, which has everything above.
  package let data: JSON
  /// The codes of its transition for the history, but for the state of an interface before it; nil for decoded data.
  let codes: TransitionRecord?

  init(
    _ id: EventID, _ time: Timestamp, target: String? = nil, _ codes: TransitionRecord,
    _ members: KeyValuePairs<String, JSON>
  ) {
    let type = codes.type
    (self.id, self.type, self.time, self.target, self.codes) = (id, type, time, target, codes)
    let head: KeyValuePairs<String, JSON> = [
      "id": .string(id.description), "type": .string(type.name), "time": .string(time.description),
    ]
    data = .object((Array(head) + Array(members)).map { JSON.Member(name: $0.key, value: $0.value) })
  }

  /// The event with some data; nil for bytes that are not the data of an event.
  package init?(data bytes: [UInt8]) {
    guard let data = try? JSON.parse(bytes), let id = data["id"]?.string.flatMap(EventID.init),
      let type = data["type"]?.string.flatMap(EventType.init(name:)), EventType.published.contains(type),
      let time = data["time"]?.string.flatMap({ Timestamp($0) })
    else { return nil }
    (self.id, self.type, self.time, target) = (id, type, time, data["target"]?["id"]?.string)
    (self.data, codes) = (data, nil)
  }

  /// The subject in the history: `machine`, `interface:eth0`, `target:db`, `gate:app`.
  package var subject: String {
    let interface = data["interface"]?["name"]?.string
    if let gate { return HistorySubject.gate(gate) }
    return target.map(HistorySubject.target) ?? interface.map(HistorySubject.interface) ?? HistorySubject.machine
  }

  /// The id of the gate that it concerns; nil for other events.
  package var gate: String? { data["gate"]?["id"]?.string }

  /// The state after it, of this machine, a registered target or a gate; nil for events without one.
  package var state: String? { data["to"]?.string ?? data["to"]?["status"]?.string }

  package var labels: [String: String] {
    var labels: [String: String] = [:]
    for label in data["target"]?["labels"]?.members ?? [] { labels[label.name] = label.value.string }
    return labels
  }

  /// The change of that target; nil for other events.
  package var targetChange: TargetChange? { TargetChange(data) }
}

/// What an event about a registered target reports.
package struct TargetChange: Sendable {
  /// The state before.
  package let from: TargetState
  /// The state after.
  package let to: TargetState
  /// Why it is not the best one.
  package let reason: Reason?
  /// Since when the target has the state; nil if it is not known.
  package let since: Timestamp?
  /// Whether the state changes so often that it is not meaningful.
  package let isFlapping: Bool
  package let isRemoved: Bool
  /// What has defined the target; nil in an event of an earlier version.
  package let origin: TargetOrigin?

  fileprivate init?(_ data: JSON) {
    guard let target = data["target"], let from = data["from"]?.string.flatMap(TargetState.init),
      let to = data["to"]?.string.flatMap(TargetState.init)
    else { return nil }
    (self.from, self.to, reason) = (from, to, data["reason"]?.string.map(Reason.init(rawValue:)))
    (since, isFlapping) = (target["since"]?.string.flatMap { Timestamp($0) }, target["flapping"] == .bool(true))
    (isRemoved, origin) = (data["removed"] == .bool(true), data["origin"]?.string.flatMap(TargetOrigin.init))
  }
}

extension EventType {
  /// The bit in the mask of a stream.
  package var mask: UInt64 { 1 << UInt64(rawValue) }
}
