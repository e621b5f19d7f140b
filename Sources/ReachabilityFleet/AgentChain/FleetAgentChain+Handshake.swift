extension FleetAgentChain {
  mutating func align(with message: OwnMessage?, at now: Duration) -> [Effect] {
    if let message, let other = message.epoch, other != epoch, hasPublished, message.sequence > after {
      phase = .conflicted
      return [.conflict(epoch: other)]
    }
    // Numbers beyond the store's end are of events that the store does not have: they are another history.
    let own = message.flatMap { $0.epoch == epoch && $0.to <= last ? $0 : nil }
    if own.map({ $0.to < published }) ?? true { base.request() }
    if own == nil { hasPublished = false }
    after = message?.sequence ?? 0
    let known = own?.to ?? 0
    if known != published || own == nil {
      published = known
      // A stream that lost events gets the latest of them again.
      let repeated = UInt64(FleetLimits.repeatedEvents)
      scanned = max(known, ackedEver > repeated ? ackedEver - repeated : 0)
      start = scanned
    }
    ackedEver = max(ackedEver, known)
    return [.save(acknowledgement)] + advance(at: now)
  }

  var acknowledgement: FleetAcknowledgement { FleetAcknowledgement(epoch: epoch, acked: scanned, ackedEver: ackedEver) }
}
