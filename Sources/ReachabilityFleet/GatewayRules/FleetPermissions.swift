/// What a user of the engine may publish and subscribe to: the boundary between agents (ADR 60).
public struct FleetPermissions: Hashable, Sendable {
  /// The subjects on which it may publish.
  public var publish: [String]
  /// The subjects to which it may subscribe.
  public var subscribe: [String]

  /// The subscriptions of one connection.
  ///
  /// A replica has one for each of the requests that wait for answers, and some others; an agent has four. Each of an agent's
  /// own costs the servers a copy of each answer.
  public static let subscriptions = 100
  /// Bytes of a message with its headers, in the server's form: the longest that agents and replicas publish is a page of
  /// ``GatewayLimits/pageBytes``, or of one target.
  public static let payloadBytes = 262_144

  /// Those of an agent: no subject of the stream, and nothing of the JetStream API.
  public static func agent(_ id: String) -> FleetPermissions {
    FleetPermissions(
      publish: ["\(FleetSubject.request(id))", "\(FleetSubject.heartbeat(id))", "\(FleetReplySubject.answers).>"],
      subscribe: ["\(FleetSubject.ask(id))", "\(FleetSubject.changed(id))", "\(FleetReplySubject.inbox(of: id)).>"])
  }

  /// Those of a replica: it creates the stream and a consumer of it, and cannot delete it.
  public static var replica: FleetPermissions {
    let stream = FleetSubject.stream
    let api = ["STREAM.CREATE", "STREAM.INFO", "CONSUMER.CREATE"].map { "$JS.API.\($0).\(stream)" }
    return FleetPermissions(
      publish: FleetSubject.stored + ["rx2.ask.*", "rx2.hb.*", "rx2.new.*", "_INBOX.agent.>", "$JS.FC.\(stream).>"]
        + api
        + ["$JS.API.DIRECT.GET.\(stream).>"],
      subscribe: [
        FleetSubject.requests, FleetSubject.heartbeats, "_INBOX.replica.>", "\(FleetReplySubject.answers).*",
        "_DELIVER.replica.>",
      ])
  }
}
