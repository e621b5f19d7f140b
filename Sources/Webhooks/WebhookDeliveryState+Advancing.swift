internal import DequeModule

// Chooses the next message.
extension WebhookDeliveryState {
  /// Continues with whatever is possible now.
  mutating func advance(_ now: Moment) -> [Effect] {
    guard activity == .none, !isReleased else { return [] }
    if let effects = sendRequested(now) { return effects }
    let isReady = position.pause == nil && hasRoute == true
    var effects = isReady ? expire(now) : []
    if buffer.isEmpty, readThrough < end {
      if let readAgain, readAgain > now.uptime { return effects + [.wake(at: readAgain)] }
      readAgain = nil
      lastNumber += 1
      activity = .reading(number: lastNumber)
      return effects + [.read(after: readThrough, number: lastNumber)]
    }
    if buffer.isEmpty, position.gap == nil {
      position.settled = max(position.settled, readThrough)
      return effects + saveSkipped(now)
    }
    guard isReady else { return effects }
    if let wait, wait.until > now.uptime { return effects + [.wake(at: wait.until)] }
    wait = nil
    if let gap = position.gap {
      effects.append(send(WebhookMessage(gap, epoch: epoch, source: source), .next, now))
    } else if let event = buffer.first {
      effects.append(send(WebhookMessage(event, epoch: epoch, source: source), .next, now))
    }
    return effects
  }

  /// Sends a message that a client has requested; nil for none.
  ///
  /// Without a route the requests end.
  private mutating func sendRequested(_ now: Moment) -> [Effect]? {
    guard hasRoute == true else {
      let reports = requested.map { Effect.report(token: $0.token, nil) }
      requested = []
      return reports.isEmpty ? nil : reports + advance(now)
    }
    guard let next = requested.popFirst() else { return nil }
    return [send(next.message, .requested(token: next.token), now)]
  }

  private mutating func send(_ message: WebhookMessage, _ purpose: Purpose, _ now: Moment) -> Effect {
    lastNumber += 1
    activity = .sending(number: lastNumber, message, since: now.uptime, purpose: purpose)
    return .send(message, number: lastNumber)
  }
}
