internal import JSONFormat
internal import NetworkReachability
public import ReachabilityFleet

/// The JSON of the messages that agents and replicas exchange through the engine.
///
/// Readers ignore members that they do not know. A message with another type or without a member that it needs is not
/// understood, and has no effect.
public enum FleetWire {
  /// Encodes a message of the stream.
  public static func encode(_ message: FleetMessage) -> [UInt8] {
    switch message {
    case .agent(let message): encode(message).bytes
    case .node(let message): encode(message).bytes
    case .verdict(let message): encode(message).bytes
    case .definition(let message): encode(message).bytes
    }
  }

  /// Decodes a message of the stream; nil when it is not understood, or names another agent or target than its subject.
  public static func decode(_ payload: [UInt8], subject: String) -> FleetMessage? {
    guard let subject = FleetSubject(subject), let json = try? JSON.parse(payload) else { return nil }
    let message: FleetMessage?
    switch subject {
    case .events: message = agentMessage(json).map(FleetMessage.agent)
    case .node: message = nodeMessage(json).map(FleetMessage.node)
    case .verdict: message = verdictMessage(json).map(FleetMessage.verdict)
    case .target: message = definitionMessage(json).map(FleetMessage.definition)
    case .request, .hook, .heartbeat, .ask, .changed: message = nil
    }
    return message?.subject == subject ? message : nil
  }

  // MARK: - Messages that are not stored

  /// Encodes a heartbeat.
  public static func encode(_ heartbeat: HeartbeatMessage) -> [UInt8] {
    var members: [JSON.Member] = [
      .init("agent", text: heartbeat.agent), .init("instance", .integer(Int64(bitPattern: heartbeat.instance))),
      .init("outbox", count: heartbeat.outbox), .init("hello", number: heartbeat.hello),
    ]
    if !heartbeat.suspects.isEmpty { members.append(.init("suspects", .list(heartbeat.suspects))) }
    return JSON.object(members).bytes
  }

  /// Decodes a heartbeat; nil when it is not understood.
  public static func heartbeat(_ payload: [UInt8]) -> HeartbeatMessage? {
    guard let json = try? JSON.parse(payload), let agent = json.text("agent"), let instance = json.int("instance"),
      let outbox = json.count("outbox"), let hello = json.number("hello")
    else { return nil }
    guard (0...FleetLimits.reportedOutbox).contains(outbox) else { return nil }
    // Whatever they are, the heartbeat is one. Only ids are kept, which are short.
    let suspects = (json.list("suspects", \.string) ?? []).prefix(FleetLimits.suspectsPerHeartbeat)
    return HeartbeatMessage(
      agent: agent, instance: UInt64(bitPattern: instance), outbox: outbox, hello: hello,
      suspects: suspects.filter(TargetSpec.isID))
  }

  /// Encodes a request to an agent.
  public static func encode(_ request: AgentRequest) -> [UInt8] {
    switch request {
    case .ping: JSON.members(["request": "ping"]).bytes
    case .base(let position):
      JSON.object([
        .init("request", text: "base"), .init("created", .integer(position.created)),
        .init("sequence", number: position.sequence),
      ]).bytes
    case .check(let targets): JSON.members(["request": "check", "targets": .list(targets)]).bytes
    }
  }

  /// Decodes a request to an agent; nil when it is not understood.
  public static func request(_ payload: [UInt8]) -> AgentRequest? {
    guard let json = try? JSON.parse(payload) else { return nil }
    switch json.text("request") {
    case "ping": return .ping
    case "base":
      guard let created = json.int("created"), let sequence = json.number("sequence") else { return nil }
      return .base(after: FleetEngineStreamPosition(sequence: sequence, created: created))
    case "check": return json.list("targets", \.string).map(AgentRequest.check)
    default: return nil
    }
  }

  /// Encodes an agent's reply.
  public static func encode(_ reply: AgentReply) -> [UInt8] {
    switch reply {
    case .instance(let number):
      JSON.members(["reply": "instance", "instance": .integer(Int64(bitPattern: number))]).bytes
    case .accepted: JSON.members(["reply": "accepted"]).bytes
    case .published(let sequence):
      JSON.object([.init("reply", text: "published"), .init("sequence", number: sequence)]).bytes
    case .results(let cells): JSON.members(["reply": "results", "cells": .array(cells.map(encode))]).bytes
    }
  }

  /// Decodes an agent's reply; nil when it is not understood.
  public static func reply(_ payload: [UInt8]) -> AgentReply? {
    guard let json = try? JSON.parse(payload) else { return nil }
    switch json.text("reply") {
    case "instance": return json.int("instance").map { .instance(UInt64(bitPattern: $0)) }
    case "accepted": return .accepted
    case "published": return json.number("sequence").map(AgentReply.published)
    case "results": return json.list("cells", checkResult).map(AgentReply.results)
    default: return nil
    }
  }
}
