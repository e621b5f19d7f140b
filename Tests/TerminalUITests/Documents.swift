import JSONFormat
import ReachabilityModel
import TerminalUI

/// Documents of a service, as it sends them.
enum Documents {
  /// The time of everything in them, in milliseconds since 1970.
  static let time: Int64 = 1_767_225_600_000

  static func json(_ text: String) -> JSON { (try? JSON.parse(Array(text.utf8))) ?? .null }

  static func status(_ status: String = "reachable", reason: String? = nil) -> JSON {
    let reason = reason.map { "\"\($0)\"" } ?? "null"
    let path =
      status == "reachable"
      ? #"{"status":"reachable","interface":"eth0","gateway":"192.0.2.1","reason":null}"#
      : #"{"status":"\#(status)","interface":null,"gateway":null,"reason":\#(reason)}"#
    return json(
      """
      {"status":"\(status)","connectionType":\(status == "reachable" ? "\"ethernetOrWiFi\"" : "null"),
       "reason":\(reason),"since":"2026-01-01T00:00:00.000000Z","ipv4":\(path),
       "ipv6":{"status":"notReachable","interface":null,"gateway":null,"reason":"noRoute"}}
      """)
  }

  /// One target of an overview: its id, the position of its state, and its age in milliseconds.
  static func overview(_ targets: [(id: String, state: Int, age: Int64)]) -> JSON {
    func column(_ values: [String]) -> String { "[\(values.joined(separator: ","))]" }
    let same = { (value: String) in column(targets.map { _ in value }) }
    return json(
      """
      {"history":false,"states":["up","down","unreachable","unknown","paused"],"reasons":[null,"refused"],
       "labels":[{"env":"prod"}],"id":\(column(targets.map { "\"\($0.id)\"" })),
       "target":\(column(targets.map { "\"tcp://\($0.id):5432\"" })),
       "state":\(column(targets.map { "\($0.state)" })),"reason":\(column(targets.map { $0.state == 1 ? "1" : "0" })),
       "label":\(same("0")),"since":\(column(targets.map { "\(time - $0.age)" })),"flags":\(same("0")),
       "latency":\(column(targets.map { $0.state == 0 ? "412" : "null" }))}
      """)
  }

  static func event(
    _ id: String, from: String, to: String, reason: String? = nil, removed: Bool = false, flags: String = ""
  ) -> JSON {
    let reason = reason.map { "\"\($0)\"" } ?? "null"
    return json(
      """
      {"id":"6f1c2a90-1","type":"target","time":"2026-01-01T00:00:00.000000Z","cause":["check"],"from":"\(from)",
       "to":"\(to)","reason":\(reason),"durationSeconds":0.002,"removed":\(removed),
       "target":{"id":"\(id)","target":"tcp://\(id):5432","module":"tcp","labels":{},"state":"\(to)",
       "reason":\(reason),"since":"2026-01-01T00:00:00.000000Z"\(flags)}}
      """)
  }

  /// A model with a live connection and these targets.
  static func model(_ targets: [(id: String, state: Int, age: Int64)], _ machine: JSON = status()) -> TopModel {
    var model = TopModel(connectingAt: time)
    _ = model.apply(type: "snapshot", machine)
    _ = model.service.replaceTargets(overview(targets))
    model.connection = .live(lastByte: time)
    return model
  }
}
