import ReachabilityFleet

/// The messages of one agent in a stream, as a reader interprets them; each violation of the protocol is a problem.
struct ChainHistory {
  private(set) var problems: [String] = []
  /// The changes that were published, by epoch, in order.
  private(set) var changes: [String: [FleetCellChange]] = [:]
  /// The number before the first message of each epoch.
  private(set) var starts: [String: UInt64] = [:]
  /// The number after which the next message of each epoch must continue.
  private(set) var ends: [String: UInt64] = [:]
  private(set) var repeated = 0
  /// The last complete base.
  private(set) var base: (epoch: String, number: UInt64, cells: [FleetBaseCell])?

  init(_ agent: String, in stream: ScriptedStream) {
    var after: UInt64 = 0
    var parts: [FleetBasePart] = []
    for entry in stream.entries {
      guard case .agent(let message) = entry.message, message.agent == agent else { continue }
      if message.after != after { problems.append("\(entry.sequence) follows \(message.after), not \(after)") }
      after = entry.sequence
      let prev: UInt64
      switch message.content {
      case .changes(let batch):
        prev = batch.prev
        parts = []
        add(batch, message.epoch, entry.sequence)
      case .base(let part):
        prev = part.prev
        if part.part == 1 { parts = [] }
        if parts.count + 1 == part.part { parts.append(part) }
        if parts.count == part.of { base = (message.epoch, part.number, parts.flatMap(\.cells)) }
      }
      if let end = ends[message.epoch] {
        if prev != end { problems.append("\(entry.sequence) begins after \(prev), not \(end)") }
      } else {
        starts[message.epoch] = prev
      }
      ends[message.epoch] = message.to
    }
  }

  private mutating func add(_ batch: AgentChangeBatch, _ epoch: String, _ sequence: UInt64) {
    var last = batch.prev
    for change in batch.changes {
      if change.number <= last { problems.append("\(sequence): \(change.number) after \(last)") }
      last = change.number
    }
    if batch.from != batch.changes.first?.number || batch.to < last { problems.append("\(sequence): wrong bounds") }
    if batch.changes.count > FleetLimits.changesPerMessage { problems.append("\(sequence): too many changes") }
    if batch.again { repeated += batch.changes.count }
    changes[epoch, default: []] += batch.changes
  }
}
