internal import JSONFormat
internal import NetworkReachability

/// An event of a service's stream as text, in the formats of ``UpdateFormatter``.
package struct RemoteEvent {
  package let json: String
  /// The time, the host for a host's update, and the line of `text/plain`; nil for an event without a verdict.
  package let line: String?
  /// The event as environment variables; empty for an event without a verdict.
  package let facts: [(name: String, value: String)]

  /// Parses an event; nil for an event that is no update, or whose data is not an object.
  ///
  /// - Parameters:
  ///   - event: the event.
  ///   - isHost: whether the stream watches hosts; then only their events are updates.
  package init?(_ event: SSEReader.Event, watchingHosts isHost: Bool) {
    guard let data = try? JSON.parse(Array(event.data.utf8)), let members = data.members else { return nil }
    let verdict: JSON?
    switch event.name {
    case "snapshot" where !isHost:
      verdict = data
      json = Self.text(.members(["type": "snapshot", "skipped": .integer(0), "status": data]))
    case "status" where !isHost, "path" where !isHost:
      verdict = data["status"]
      json = event.data
    case "host" where isHost:
      verdict = data["host"]
      json = event.data
    case "gap" where !isHost, "bye":
      verdict = nil
      json = Self.text(.object([.init(name: "type", value: .string(event.name))] + members))
    default: return nil
    }
    let time = data["time"]?.string ?? Timestamp.now.description
    line = verdict.map { Self.line($0, time).withoutControls }
    facts = verdict.map { Self.facts($0, data, time, isInitial: event.name == "snapshot") } ?? []
  }

  private static func text(_ document: JSON) -> String { String(decoding: document.bytes, as: UTF8.self) }

  private static func line(_ verdict: JSON, _ time: String) -> String {
    let path = path(verdict)
    var words = [time, verdict["host"]?.string, verdict["status"]?.string].compactMap(\.self)
    words += ["connectionType", "reason"].compactMap { verdict[$0]?.string }
    if let interface = path?["interface"]?.string { words.append(interface) }
    if let gateway = path?["gateway"]?.string { words += ["via", gateway] }
    return words.joined(separator: " ")
  }

  private static func facts(
    _ verdict: JSON, _ data: JSON, _ time: String, isInitial: Bool
  ) -> [(name: String, value: String)] {
    let path = path(verdict)
    func text(_ value: JSON?) -> String { value?.string ?? "" }
    let causes = data["cause"]?.elements?.compactMap(\.string) ?? []
    return [
      ("REACHD_HOST", text(verdict["host"])), ("REACHD_STATUS", text(verdict["status"])),
      ("REACHD_CONNECTION_TYPE", text(verdict["connectionType"])), ("REACHD_REASON", text(verdict["reason"])),
      ("REACHD_INTERFACE", text(path?["interface"])), ("REACHD_GATEWAY", text(path?["gateway"])),
      ("REACHD_SOURCE", text(path?["source"])), ("REACHD_CAUSE", causes.joined(separator: ",")),
      ("REACHD_INITIAL", isInitial || data["initial"] == .bool(true) ? "1" : "0"), ("REACHD_TIME", time),
    ]
  }

  /// The path of the leading family, or the route of the leading address: the first with the status of the verdict.
  private static func path(_ verdict: JSON) -> JSON? {
    let families = [verdict["ipv4"], verdict["ipv6"]].compactMap(\.self)
    if !families.isEmpty { return families.first { $0["status"] == verdict["status"] } ?? families.first }
    let addresses = verdict["addresses"]?.elements ?? []
    return (addresses.first { $0["status"] == verdict["status"] } ?? addresses.first)?["route"]
  }
}
