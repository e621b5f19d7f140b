internal import Events
internal import JSONFormat
internal import ReachabilityFleet
internal import ReachabilityModel
internal import StatusAPI

extension FleetWire {
  static func encode(_ message: VerdictMessage) -> JSON {
    var members: [JSON.Member] = [
      .init("target", text: message.target), .init("stream", .integer(message.stream)),
      .init("from", .text(message.from?.rawValue)),
      .init("to", text: message.to.rawValue),
    ]
    if let reason = message.reason { members.append(.init("reason", text: reason.rawValue)) }
    if let dependency = message.dependency { members.append(.init("dependency", text: dependency)) }
    members += [
      .init("votes", encode(message.votes)), .init("downFrom", .list(message.downFrom)),
      .init("basis", number: message.basis), .init("attempt", count: message.attempt),
      .init("prev", number: message.prev), .init("held", .bool(message.held)), .init("by", text: message.by),
    ]
    if let since = message.since { members.append(.init("since", .integer(since.microseconds))) }
    return .object(members)
  }

  static func verdictMessage(_ json: JSON) -> VerdictMessage? {
    guard let target = json.text("target"), let stream = json.int("stream"),
      let to = json.text("to").flatMap(FleetVerdict.init(rawValue:)),
      let votes = json["votes"].flatMap(votes), let downFrom = json.list("downFrom", \.string),
      let basis = json.number("basis"), let attempt = json.count("attempt"), let prev = json.number("prev"),
      let replica = json.text("by")
    else { return nil }
    let from = json.text("from").flatMap(FleetVerdict.init(rawValue:))
    if from == nil, json["from"] != .null { return nil }
    return VerdictMessage(
      target: target, stream: stream, from: from, to: to, reason: json.text("reason").map(Reason.init(rawValue:)),
      votes: votes,
      downFrom: downFrom, basis: basis, attempt: attempt, prev: prev, held: json.flag("held"), by: replica,
      since: json.int("since").map(Timestamp.init(microseconds:)), dependency: json.text("dependency"))
  }

  static func encode(_ votes: FleetVoteCounts) -> JSON {
    .object([
      .init("assigned", count: votes.assigned), .init("up", count: votes.up), .init("down", count: votes.down),
      .init("unreachable", count: votes.unreachable), .init("unknown", count: votes.unknown),
      .init("paused", count: votes.paused),
    ])
  }

  private static func votes(_ json: JSON) -> FleetVoteCounts? {
    var votes = FleetVoteCounts()
    let fields: [(String, WritableKeyPath<FleetVoteCounts, Int>)] = [
      ("assigned", \.assigned), ("up", \.up), ("down", \.down), ("unreachable", \.unreachable), ("unknown", \.unknown),
      ("paused", \.paused),
    ]
    for (name, field) in fields {
      guard let count = json.count(name) else { return nil }
      votes[keyPath: field] = count
    }
    return votes
  }

  // MARK: - Definitions

  static func encode(_ message: DefinitionMessage) -> JSON {
    var members: [JSON.Member] = [.init("id", text: message.id), .init("version", number: message.version)]
    if let definition = message.definition {
      members.append(.init("definition", .object(self.members(definition))))
    } else {
      members.append(.init("deleted", true))
    }
    if message.restates { members.append(.init("restates", true)) }
    return .object(members)
  }

  static func definitionMessage(_ json: JSON) -> DefinitionMessage? {
    guard let id = json.text("id"), let version = json.number("version"), version > 0 else { return nil }
    let definition = json["definition"].flatMap { fleetTarget($0, id: id) }
    guard definition != nil || json.flag("deleted") else { return nil }
    return DefinitionMessage(id: id, version: version, definition: definition, restates: json.flag("restates"))
  }

  /// The members of a definition, without its id.
  static func members(_ target: FleetTarget, _ visibility: TargetVisibility = .full) -> [JSON.Member] {
    members(of: target.spec, visibility) + [
      .init("dependsOn", TargetSummary.dependsOn(target.spec.dependsOn)),
      .init("place", FleetTargetDecoder.encode(target.placement)),
      .init("quorum", FleetTargetDecoder.encode(target.quorum)),
    ]
  }

  /// The members of what is checked, without its id.
  static func members(of spec: TargetSpec, _ visibility: TargetVisibility = .full) -> [JSON.Member] {
    let text = spec.target.map { text in
      (try? CheckTarget(text)).map(visibility.text) ?? (visibility == .full ? text : "")
    }
    var members: [JSON.Member] = [.init("target", .text(text))]
    if let module = spec.module { members.append(.init("module", text: module)) }
    members.append(.init("labels", texts: spec.labels))
    for (name, duration) in [
      ("interval", spec.interval), ("timeout", spec.timeout), ("fastInterval", spec.fastInterval),
    ] {
      if let duration { members.append(.init(name, text: DurationFormat.shortest(duration))) }
    }
    if let fall = spec.fall { members.append(.init("fall", count: fall)) }
    if let rise = spec.rise { members.append(.init("rise", count: rise)) }
    members.append(.init("paused", .bool(spec.isPaused)))
    return members
  }

  private static func fleetTarget(_ json: JSON, id: String) -> FleetTarget? {
    guard var spec = spec(json, id: id), let dependsOn = dependencies(json["dependsOn"]),
      let placement = try? FleetTargetDecoder.placement(json["place"], at: ""),
      let quorum = try? FleetTargetDecoder.quorum(json["quorum"], at: "")
    else { return nil }
    spec.dependsOn = dependsOn
    return FleetTarget(spec: spec, placement: placement, quorum: quorum)
  }

  /// The entries of `dependsOn`; none when it is missing, nil for another type.
  private static func dependencies(_ json: JSON?) -> [TargetDependency]? {
    guard let json else { return [] }
    var entries: [TargetDependency] = []
    for entry in json.elements ?? [.null] {
      guard let dependency = TargetDecoder.dependency(entry) else { return nil }
      entries.append(dependency)
    }
    return entries
  }

  /// What is checked; nil when it is not understood.
  static func spec(_ json: JSON, id: String) -> TargetSpec? {
    guard let text = json.text("target"), let labels = json.texts("labels") else { return nil }
    var spec = TargetSpec()
    spec.id = id
    spec.target = text
    spec.module = json.text("module")
    spec.labels = labels
    spec.interval = json.text("interval").flatMap { DurationFormat.parse($0) }
    spec.timeout = json.text("timeout").flatMap { DurationFormat.parse($0) }
    spec.fastInterval = json.text("fastInterval").flatMap { DurationFormat.parse($0) }
    spec.fall = json.count("fall")
    spec.rise = json.count("rise")
    spec.isPaused = json.flag("paused")
    return spec
  }
}
