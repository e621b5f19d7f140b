internal import Events
internal import JSONFormat
public import NetworkReachability
internal import StatusAPI

/// The state of this machine as text, without HTTP, in the formats of `/status`.
public enum StatusFormatter {
  /// Returns the document of `GET /status`, on one line.
  public static func json(_ snapshot: Snapshot) -> String {
    // Without a service there is no history, and therefore no epoch.
    String(decoding: StatusRepresentation.document(snapshot, epoch: "00000000").bytes, as: UTF8.self)
  }

  /// Returns one line: `reachable ethernetOrWiFi eth0 via 10.0.0.1`.
  public static func line(_ snapshot: Snapshot) -> String {
    StatusRepresentation.line(snapshot.machine.leading)
  }
}

/// Updates as text, without HTTP: for a terminal, a pipe, or a command's environment.
public enum UpdateFormatter {
  /// Returns a new epoch for the ids of one run.
  public static func newEpoch() -> String { EventID.newEpoch() }

  /// Returns the time, the host for a host's update, and the line of `text/plain`.
  public static func line(_ update: ReachabilityUpdate) -> String {
    let words = [time(update).description, update.host?.target.description].compactMap(\.self)
    return (words + [StatusRepresentation.line(path(update))]).joined(separator: " ")
  }

  /// Returns the line of `text/plain` for a host.
  public static func line(_ verdict: HostVerdict) -> String { StatusRepresentation.line(verdict.path) }

  /// Returns the stream's event as one JSON line; the first one of this machine is a `snapshot`.
  public static func json(_ update: ReachabilityUpdate, epoch: String) -> String {
    let value: JSON
    if case .host(let from, let to)? = update.transition?.change, let transition = update.transition {
      value = HostRepresentation.event(to, transition, initial: from == nil)
    } else if let transition = update.transition {
      value = Event(transition, update.snapshot, epoch: epoch)?.data ?? .null
    } else {
      let status = StatusRepresentation.document(update.snapshot, epoch: epoch)
      value = .members(["type": "snapshot", "skipped": .integer(Int64(update.skipped)), "status": status])
    }
    return String(decoding: value.bytes, as: UTF8.self)
  }

  /// Returns an update as environment variables.
  public static func facts(_ update: ReachabilityUpdate) -> [(name: String, value: String)] {
    let path = path(update)
    let isInitial = if case .host(from: nil, to: _)? = update.transition?.change { true } else { update.isInitial }
    return [
      ("REACHD_HOST", update.host?.target.scopedHost ?? ""),
      ("REACHD_STATUS", path.status.name),
      ("REACHD_CONNECTION_TYPE", path.status.connectionType?.rawValue ?? ""),
      ("REACHD_REASON", path.reason?.rawValue ?? ""),
      ("REACHD_INTERFACE", path.interface?.name ?? ""),
      ("REACHD_GATEWAY", path.gateway?.description ?? ""),
      ("REACHD_SOURCE", path.source?.description ?? ""),
      ("REACHD_CAUSE", update.transition?.causes.map(\.rawValue).joined(separator: ",") ?? ""),
      ("REACHD_INITIAL", isInitial ? "1" : "0"),
      ("REACHD_TIME", time(update).description),
    ]
  }

  private static func path(_ update: ReachabilityUpdate) -> NetworkPath {
    update.host?.path ?? update.snapshot.machine.leading
  }

  private static func time(_ update: ReachabilityUpdate) -> Timestamp {
    update.transition?.time ?? .now
  }
}
