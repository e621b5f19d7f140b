extension FleetAgentChain {
  mutating func advanceIfIdle(at now: Duration) -> [Effect] {
    guard case .idle = phase else { return [] }
    return advance(at: now)
  }

  /// Begins the next action: changes before a base, because a base includes all changes up to its number.
  mutating func advance(at now: Duration) -> [Effect] {
    if nextBase <= now { base.request() }
    switch base {
    case .due:
      return perform(.readBase)
    case .read(let found, let parts):
      last = max(last, found.number)
      if found.number > scanned { return readChanges() }
      guard found.number == scanned else { return retry(at: now) }
      return publish(parts, number: found.number)
    case .none:
      if scanned < last { return readChanges() }
      let handshake = now + FleetLimits.idleHandshakeInterval
      phase = .idle(handshakeAt: handshake)
      return [.wake(at: min(handshake, nextBase))]
    }
  }

  private mutating func readChanges() -> [Effect] {
    perform(.readChanges(after: scanned, limit: limit))
  }

  mutating func publish(_ page: FleetOutboxPage, at now: Duration) -> [Effect] {
    last = max(last, page.last)
    var upper = page.through
    if case .read(let found, _) = base { upper = min(upper, found.number) }
    // One message is either new or repeated.
    if let first = page.changes.first, first.number <= ackedEver { upper = min(upper, ackedEver) }
    if page.start > scanned { start = page.start }
    let changes = page.changes.prefix { $0.number <= upper }
    guard let first = changes.first else {
      // Nothing of the fleet up to there. A page that ends where it began would be read again for ever.
      guard upper > scanned else { return retry(at: now) }
      scanned = upper
      return advance(at: now)
    }
    return publish(
      .changes(
        AgentChangeBatch(prev: start, from: first.number, to: upper, again: upper <= ackedEver, changes: Array(changes))
      ))
  }

  mutating func publish(_ parts: ArraySlice<[FleetBaseCell]>, number: UInt64) -> [Effect] {
    let part = FleetBasePart(
      prev: start, number: number, part: parts.startIndex + 1, of: parts.endIndex, cells: parts.first ?? [])
    return publish(.base(part))
  }

  mutating func publish(_ content: AgentMessage.Content) -> [Effect] {
    let message = AgentMessage(agent: agent, epoch: epoch, after: after, content)
    inFlight = message
    return perform(.publish(message, FleetEngineExpectedLast(after: after)))
  }

  /// Sends the message again that a replica has not accepted yet.
  mutating func publishAgain() -> [Effect] {
    guard let message = inFlight else { return perform(.readLastMessage) }
    return perform(.publish(message, FleetEngineExpectedLast(after: message.after)))
  }

  /// Replicas reject the message: half of its changes are tried, then a single one is left out.
  ///
  /// Nothing is tried for ever.
  mutating func leaveOut(_ reason: String, at now: Duration) -> [Effect] {
    guard let message = inFlight else { return retry(at: now) }
    inFlight = nil
    switch message.content {
    case .changes(let batch) where batch.changes.count > 1:
      limit = batch.changes.count / 2
      return advance(at: now)
    case .changes(let batch):
      // The next message begins after it, so that readers see the gap.
      (scanned, start) = (batch.to, batch.to)
    case .base:
      base = .none
      nextBase = now + baseInterval
    }
    return [.leftOut(message, reason: reason)] + advance(at: now)
  }

  /// Whether a complete base lies behind a position that a replica has read.
  public func hasBase(after position: FleetEngineStreamPosition) -> Bool {
    guard let completeBase, completeBase.created == position.created else { return false }
    return completeBase.sequence > position.sequence
  }

  mutating func acknowledge(_ sequence: UInt64, at now: Duration) -> [Effect] {
    guard let message = inFlight else { return advance(at: now) }
    inFlight = nil
    failures = 0
    hasPublished = true
    limit = FleetLimits.changesPerMessage
    after = sequence
    published = message.to
    start = published
    scanned = max(scanned, published)
    ackedEver = max(ackedEver, published)
    waiting.discard(through: scanned)
    if case .base(let part) = message.content, case .read(let found, let parts) = base {
      base = part.part == part.of ? .none : .read(found, parts: parts.dropFirst())
      if part.part == part.of {
        nextBase = now + baseInterval
        completeBase = created.map { FleetEngineStreamPosition(sequence: sequence, created: $0) }
      }
    }
    return [.save(acknowledgement)] + advance(at: now)
  }
}
