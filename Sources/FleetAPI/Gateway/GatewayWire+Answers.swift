internal import JSONFormat
internal import NetworkReachability
public import ReachabilityFleet

extension GatewayWire {
  // MARK: - Answers

  static func encode(_ answer: GatewayAnswer) -> [UInt8] {
    switch answer {
    case .stored(let sequence): object("stored", [.init("sequence", number: sequence)])
    case .refused: object("refused")
    case .slowDown(let wait): object("slowDown", [.init("milliseconds", .integer(Int64(wait / .milliseconds(1))))])
    case .rejected(let reason): object("rejected", [.init("reason", text: reason)])
    case .failed(let reason): object("failed", [.init("reason", text: reason)])
    case .duplicate: object("duplicate")
    case .last(let message):
      object(
        "last",
        message.map {
          [.init("sequence", number: $0.sequence), .init("epoch", .text($0.epoch)), .init("to", number: $0.to)]
        } ?? [])
    case .confirmed(let confirmation):
      object(
        "confirmed",
        [
          .init("created", .integer(confirmation.stream.created)), .init("first", number: confirmation.stream.first),
          .init("last", number: confirmation.stream.last),
          .init("hello", confirmation.hello.map { .integer(Int64(clamping: $0)) } ?? .null),
          .init("roster", confirmation.roster.map { .object(members($0)) } ?? .null),
        ])
    case .roster(let page):
      object(
        "roster",
        members(page.roster) + [.init("targets", .array(page.checks.map(encode))), .init("next", .text(page.next))])
    case .missing(let ended): object("missing", [.init("ended", .list(ended))])
    }
  }

  private static func object(_ name: String, _ members: [JSON.Member] = []) -> [UInt8] {
    JSON.object([.init("answer", text: name)] + members).bytes
  }

  private static func members(_ roster: GatewayConfirmation.Roster) -> [JSON.Member] {
    [
      .init("created", .integer(roster.position.created)), .init("sequence", number: roster.position.sequence),
      .init("hash", text: roster.hash),
    ]
  }

  static func encode(_ spec: TargetSpec) -> JSON {
    .object([.init("id", text: spec.id ?? "")] + FleetWire.members(of: spec))
  }

  /// Decodes an answer; nil when it is not understood.
  public static func answer(_ payload: [UInt8]) -> GatewayAnswer? {
    guard let json = try? JSON.parse(payload) else { return nil }
    switch json.text("answer") {
    case "stored": return json.number("sequence").map(GatewayAnswer.stored)
    case "refused": return .refused
    case "slowDown": return json.int("milliseconds").map { .slowDown(.milliseconds(max(0, min($0, 60_000)))) }
    case "rejected": return .rejected(json.text("reason") ?? "")
    case "failed": return .failed(json.text("reason") ?? "")
    case "duplicate": return .duplicate
    case "last":
      guard json["sequence"] != nil else { return .last(nil) }
      guard let sequence = json.number("sequence"), let to = json.number("to") else { return nil }
      return .last(FleetAgentChain.OwnMessage(sequence: sequence, epoch: json.text("epoch"), to: to))
    case "confirmed": return confirmation(json).map(GatewayAnswer.confirmed)
    case "roster":
      guard let roster = roster(json), let checks = json.list("targets", spec) else { return nil }
      return .roster(GatewayRosterPage(roster: roster, checks: checks, next: json.text("next")))
    case "missing": return json.list("ended", \.string).map { .missing(ended: $0) }
    default: return nil
    }
  }

  private static func confirmation(_ json: JSON) -> GatewayConfirmation? {
    guard let created = json.int("created"), let first = json.number("first"), let last = json.number("last") else {
      return nil
    }
    return GatewayConfirmation(
      stream: FleetEngineStreamState(created: created, first: first, last: last), hello: json.number("hello"),
      roster: json["roster"].flatMap(roster))
  }

  private static func roster(_ json: JSON) -> GatewayConfirmation.Roster? {
    guard let created = json.int("created"), let sequence = json.number("sequence"), let hash = json.text("hash") else {
      return nil
    }
    return .init(position: FleetEngineStreamPosition(sequence: sequence, created: created), hash: hash)
  }

  private static func spec(_ json: JSON) -> TargetSpec? {
    guard let id = json.text("id"), TargetSpec.isID(id) else { return nil }
    return FleetWire.spec(json, id: id)
  }
}
