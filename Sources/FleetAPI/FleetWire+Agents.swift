internal import JSONFormat
internal import NetworkReachability
internal import ReachabilityFleet

extension FleetWire {
  /// The longest reason, which consists of letters.
  private static let reasonBytes = 64

  static func encode(_ message: AgentMessage) -> JSON {
    var members: [JSON.Member] = [
      .init("agent", text: message.agent), .init("epoch", text: message.epoch), .init("after", number: message.after),
    ]
    switch message.content {
    case .changes(let batch):
      members += [
        .init("prev", number: batch.prev), .init("from", number: batch.from), .init("to", number: batch.to),
        .init("again", .bool(batch.again)), .init("changes", .array(batch.changes.map(encode))),
      ]
    case .base(let part):
      members += [
        .init("prev", number: part.prev), .init("number", number: part.number), .init("part", count: part.part),
        .init("of", count: part.of), .init("cells", .array(part.cells.map(encode))),
      ]
    }
    return .object(members)
  }

  static func agentMessage(_ json: JSON) -> AgentMessage? {
    guard let agent = json.text("agent"), let epoch = json.text("epoch"), let after = json.number("after"),
      let prev = json.number("prev")
    else { return nil }
    if json["cells"] != nil {
      guard let number = json.number("number"), let part = json.count("part"), let of = json.count("of"),
        let cells = json.list("cells", baseCell), part >= 1, part <= of, cells.count <= FleetLimits.changesPerMessage
      else { return nil }
      return AgentMessage(
        agent: agent, epoch: epoch, after: after,
        .base(FleetBasePart(prev: prev, number: number, part: part, of: of, cells: cells)))
    }
    guard let from = json.number("from"), let to = json.number("to"), let changes = json.list("changes", change),
      prev < from, from <= to, changes.count <= FleetLimits.changesPerMessage
    else { return nil }
    return AgentMessage(
      agent: agent, epoch: epoch, after: after,
      .changes(AgentChangeBatch(prev: prev, from: from, to: to, again: json.flag("again"), changes: changes)))
  }

  // MARK: - Cells

  private static func encode(_ change: FleetCellChange) -> JSON {
    var members: [JSON.Member] = [
      .init("number", number: change.number), .init("target", text: change.target),
      .init("old", text: change.old.rawValue), .init("time", .integer(change.time.microseconds)),
    ]
    if let cell = change.cell { members += self.members(cell) }
    if change.skipped > 0 { members.append(.init("skipped", number: change.skipped)) }
    return .object(members)
  }

  private static func change(_ json: JSON) -> FleetCellChange? {
    guard let number = json.number("number"), let target = target(json),
      let old = json.text("old").flatMap(TargetState.init(rawValue:)), let time = json.int("time")
    else { return nil }
    let cell = cell(json)
    // Without a state, the agent does not check the target any longer.
    if cell == nil, json["state"] != nil { return nil }
    return FleetCellChange(
      number: number, target: target, old: old, cell: cell, time: Timestamp(microseconds: time),
      skipped: json.number("skipped") ?? 0)
  }

  static func encode(_ cell: FleetBaseCell) -> JSON {
    .object([.init("target", text: cell.target)] + members(cell.cell))
  }

  static func baseCell(_ json: JSON) -> FleetBaseCell? {
    guard let target = target(json), let cell = cell(json) else { return nil }
    return FleetBaseCell(target, cell)
  }

  static func encode(_ result: FleetCheckResult) -> JSON {
    var members: [JSON.Member] = [.init("target", text: result.target)] + members(result.cell)
    if let last = result.last { members.append(.init("last", text: last.rawValue)) }
    return .object(members)
  }

  static func checkResult(_ json: JSON) -> FleetCheckResult? {
    guard let target = target(json), let cell = cell(json) else { return nil }
    return FleetCheckResult(target, cell, last: json.text("last").flatMap(TargetState.init(rawValue:)))
  }

  /// The target of a cell: an id, for every agent, because replicas write it into CSV and event streams.
  private static func target(_ json: JSON) -> String? {
    json.text("target").flatMap { TargetSpec.isID($0) ? $0 : nil }
  }

  private static func members(_ cell: FleetCellState) -> [JSON.Member] {
    var members: [JSON.Member] = [.init("state", text: cell.state.rawValue)]
    if let reason = cell.reason { members.append(.init("reason", text: reason.rawValue)) }
    members.append(.init("since", .integer(cell.since.microseconds)))
    if cell.isFlapping { members.append(.init("flapping", true)) }
    return members
  }

  private static func cell(_ json: JSON) -> FleetCellState? {
    guard let state = json.text("state").flatMap(TargetState.init(rawValue:)), let since = json.int("since") else {
      return nil
    }
    let reason = json.text("reason")
    guard reason?.utf8.count ?? 0 <= reasonBytes, reason?.allSatisfy({ $0.isASCII && $0.isLetter }) ?? true else {
      return nil
    }
    return FleetCellState(
      state, reason.map(Reason.init(rawValue:)), since: Timestamp(microseconds: since),
      isFlapping: json.flag("flapping"))
  }

  // MARK: - Nodes

  static func encode(_ message: NodeMessage) -> JSON {
    var members: [JSON.Member] = [.init("id", text: message.id)]
    switch message.content {
    case .hello(let hello, let restates, let instance):
      members.append(.init("hello", encode(hello)))
      if restates { members.append(.init("restates", true)) }
      if instance != 0 { members.append(.init("instance", .integer(Int64(bitPattern: instance)))) }
    case .bye: members.append(.init("bye", .object([])))
    case .lost(let hello, let attributes, let replica):
      members.append(
        .init(
          "lost",
          .object([
            .init("hello", number: hello), .init("attributes", encode(attributes)), .init("by", text: replica),
          ])))
    }
    return .object(members)
  }

  static func nodeMessage(_ json: JSON) -> NodeMessage? {
    guard let id = json.text("id") else { return nil }
    if let hello = json["hello"] {
      let instance = UInt64(bitPattern: json.int("instance") ?? 0)
      return self.hello(hello).map {
        NodeMessage(id: id, .hello($0, restates: json.flag("restates"), instance: instance))
      }
    }
    if json["bye"] != nil { return NodeMessage(id: id, .bye) }
    guard let lost = json["lost"], let sequence = lost.number("hello"), let replica = lost.text("by"),
      let attributes = lost["attributes"].flatMap(hello)
    else { return nil }
    return NodeMessage(id: id, .lost(hello: sequence, attributes: attributes, by: replica))
  }

  static func encode(_ hello: NodeHello) -> JSON {
    var members: [JSON.Member] = [
      .init("role", text: hello.role.rawValue), .init("zone", text: hello.zone), .init("labels", texts: hello.labels),
    ]
    if let address = hello.address { members.append(.init("address", text: address)) }
    return .object(members + [.init("version", text: hello.version)])
  }

  static func hello(_ json: JSON) -> NodeHello? {
    guard let role = json.text("role").flatMap(NodeHello.Role.init(rawValue:)), let labels = json.texts("labels"),
      let version = json.text("version")
    else { return nil }
    let zone = json.text("zone") ?? ""
    guard zone.isEmpty || TargetSpec.isID(zone) else { return nil }
    return NodeHello(
      role: role, zone: zone, labels: labels, address: json.text("address"), version: version)
  }
}
