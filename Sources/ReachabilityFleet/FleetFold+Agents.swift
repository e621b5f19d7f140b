extension FleetFold {
  /// Applies transitions or a part of a base.
  mutating func apply(_ message: AgentMessage) -> [(index: UInt64, content: FleetEvent.Content)] {
    let last = begin(message.epoch, of: message.agent)
    var contents: [(index: UInt64, content: FleetEvent.Content)]
    let first: UInt64
    switch message.content {
    case .changes(let batch):
      nodes[message.agent]?.parts = []
      contents = apply(batch, message)
      first = batch.from
    case .base(let part):
      contents = gap(of: message.agent, after: part.prev, before: part.number)
      apply(part, message.agent)
      first = part.number
    }
    // What the previous history had after its last published event is not known.
    if let last, contents.first?.index != 0 {
      contents.insert((0, .gap(agent: message.agent, after: last, before: first)), at: 0)
    }
    return contents
  }

  /// Makes the epoch of a message the current one of its agent; returns the last number of another one before it.
  private mutating func begin(_ epoch: String, of agent: String) -> UInt64? {
    var node = nodes[agent] ?? FleetFoldedNode()
    let last = node.epoch == nil || node.epoch == epoch ? nil : node.highWater ?? 0
    if node.epoch != epoch {
      // A new store does not contain the cells of the previous one.
      if node.epoch != nil { node.awaitsBase = true }
      node.epoch = epoch
      node.highWater = nil
      node.parts = []
      let isNew = nodes[agent] == nil
      nodes[agent] = node
      if !isNew { markTargets(of: agent) }
    }
    return last
  }

  private mutating func gap(
    of agent: String, after prev: UInt64, before number: UInt64
  ) -> [(index: UInt64, content: FleetEvent.Content)] {
    guard let highWater = nodes[agent]?.highWater, prev > highWater else { return [] }
    nodes[agent]?.holes += 1
    missingBases.insert(agent)
    return [(0, .gap(agent: agent, after: highWater, before: number))]
  }

  private mutating func apply(
    _ batch: AgentChangeBatch, _ message: AgentMessage
  ) -> [(index: UInt64, content: FleetEvent.Content)] {
    var contents = gap(of: message.agent, after: batch.prev, before: batch.from)
    guard var node = nodes.removeValue(forKey: message.agent) else { return contents }
    let highWater = node.highWater ?? 0
    if batch.again, highWater < batch.to {
      // Some subscribers had these changes before the stream lost them, and others did not.
      contents = [(0, .gap(agent: message.agent, after: node.highWater ?? batch.prev, before: batch.to + 1))]
    } else {
      contents.reserveCapacity(contents.count + batch.changes.count)
    }
    for (index, change) in batch.changes.enumerated() where change.number > highWater {
      guard node.cells.count < FleetLimits.cellsPerAgent || node.cells[change.target] != nil else { continue }
      node.cells[change.target] = change.cell
      markVote(node.vote(change.target)?.state, of: message.agent, on: change.target)
      if !batch.again {
        contents.append((UInt64(index + 1), .cell(agent: message.agent, epoch: message.epoch, change)))
      }
    }
    node.highWater = max(highWater, batch.to)
    nodes[message.agent] = node
    return contents
  }

  private mutating func apply(_ part: FleetBasePart, _ agent: String) {
    guard var node = nodes.removeValue(forKey: agent) else { return }
    node.highWater = max(node.highWater ?? 0, part.number)
    let cells = node.add(part)
    guard let cells else {
      nodes[agent] = node
      return
    }
    let old = node.cells
    node.cells = Dictionary(cells.map { ($0.target, $0.cell) }) { _, last in last }
    let wasAwaited = node.awaitsBase
    node.awaitsBase = false
    node.hasBase = true
    missingBases.remove(agent)
    nodes[agent] = node
    for id in Set(old.keys).union(node.cells.keys) where wasAwaited || old[id]?.state != node.cells[id]?.state {
      markVote(node.vote(id)?.state, of: agent, on: id)
    }
  }

  /// Notes that the present message concerns all votes of an agent.
  mutating func markTargets(of agent: String) {
    let node = nodes[agent]
    for id in targets.filter({ $0.value.hasVote(of: agent) }).keys {
      markVote(node?.vote(id)?.state, of: agent, on: id)
    }
  }
}
