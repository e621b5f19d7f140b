internal import Events
internal import EventStreams
internal import JSONFormat
internal import NetworkReachability
internal import ReachabilityFleet
internal import StatusAPI

/// The events of the fleet on event streams.
///
/// Their bytes follow from the event alone, so that they are the same at every replica. URLs are redacted.
enum FleetEventRepresentation {
  /// The kinds of log entries: one bit each of a stream's mask.
  enum Kind: UInt8, CaseIterable {
    case agent, cell, verdict, definition, gap

    var mask: UInt64 { 1 << UInt64(rawValue) }

    /// The type on the stream.
    ///
    /// A description by reflection would take a tenth of an event's time.
    var name: String { Self.names[Int(rawValue)] }
    private static let names = allCases.map { "\($0)" }
  }

  /// The event as a log entry; the fold after it has the zones of the agents.
  static func entry(_ event: FleetEvent, _ fold: FleetFold) -> EventLog.Entry {
    let (kind, target, node) = classification(event.content)
    let zone = node.flatMap { fold.nodes[$0]?.hello?.zone }
    let labels = EventLog.Labels(topic: label(target), source: label(node), group: label(zone))
    let bytes = Array(("id: " + event.id.description + "\n").utf8) + SSEFrame.event(kind.name, data(event))
    return EventLog.Entry(id: event.id.number, kind: kind.rawValue, labels: labels, bytes: bytes, check: event.id.check)
  }

  private static func label(_ name: String?) -> UInt64 { name.map(EventLog.label) ?? 0 }

  private static func classification(_ content: FleetEvent.Content) -> (Kind, target: String?, node: String?) {
    switch content {
    case .node(let id, _, _): (.agent, nil, id)
    case .cell(let agent, _, let change): (.cell, change.target, agent)
    case .verdict(let verdict): (.verdict, verdict.target, nil)
    case .definition(let message): (.definition, message.id, nil)
    case .gap(let agent, _, _): (.gap, nil, agent)
    }
  }

  static func data(_ event: FleetEvent) -> JSON {
    .object([.init("time", text: Timestamp(nanoseconds: event.time).description)] + members(event.content))
  }

  private static func members(_ content: FleetEvent.Content) -> [JSON.Member] {
    switch content {
    case .node(let id, let state, let hello):
      return [.init("agent", text: id), .init("state", text: state.rawValue)]
        + (hello.map(FleetWire.encode)?.members ?? [])
    case .cell(let agent, let epoch, let change):
      return [
        .init("agent", text: agent), .init("target", text: change.target), .init("old", text: change.old.rawValue),
        .init("state", .text(change.cell?.state.rawValue)), .init("reason", .text(change.cell?.reason?.rawValue)),
        .init("since", .text(change.cell?.since.description)),
        .init("flapping", .bool(change.cell?.isFlapping == true)),
        .init("skipped", number: change.skipped), .init("origin", text: "\(epoch)-\(change.number)"),
      ]
    case .verdict(let verdict):
      return [
        .init("target", text: verdict.target), .init("old", .text(verdict.from?.rawValue)),
        .init("verdict", text: verdict.to.rawValue), .init("reason", .text(verdict.reason?.rawValue)),
        .init("dependency", .text(verdict.dependency)),
        .init("votes", FleetWire.encode(verdict.votes)), .init("downFrom", .list(verdict.downFrom)),
        .init("basis", number: verdict.basis), .init("by", text: verdict.by),
      ]
    case .definition(let message):
      return [
        .init("target", text: message.id), .init("version", number: message.version),
        .init("definition", message.definition.map { .object(FleetWire.members($0, .redacted)) } ?? .null),
      ]
    case .gap(let agent, let after, let before):
      return [.init("agent", text: agent), .init("after", number: after), .init("before", number: before)]
    }
  }
}
