// Webhooks that several processes share: one of them sends.
extension WebhookTable {
  /// Whether this process sends a webhook.
  func isOwned(_ id: String) -> Bool { owned?.contains(id) ?? true }

  /// Begins and ends to send webhooks that several processes share.
  mutating func own(_ positions: [String: WebhookPosition?], epoch: String, end: UInt64, _ now: Moment) -> [Action] {
    let isSame = epoch == self.epoch
    let kept = isSame ? (owned ?? []).intersection(positions.keys) : []
    var actions: [Action] = []
    for id in order where !kept.contains(id) {
      // Its request in progress ends and its position is stored, before another process begins.
      if positions[id] == nil, isSame {
        entries[id]?.state?.isReleased = true
      } else {
        if let entry = entries[id] {
          actions += (entry.state?.remove() ?? []).map { Action(webhook: entry.definition, effect: $0) }
        }
        entries[id]?.state = nil
      }
    }
    self.epoch = epoch
    self.end = isSame ? max(self.end, end) : end
    owned = Set(positions.keys)
    stored = stored ?? [:]
    for (id, position) in positions where !kept.contains(id) { stored?[id] = position }
    return actions + order.flatMap { start($0, now) }
  }
}
