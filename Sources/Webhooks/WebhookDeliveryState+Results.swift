internal import ReachabilityModel

// What follows from an attempt.
extension WebhookDeliveryState {
  /// The log's entry for an attempt.
  func record(
    _ outcome: WebhookAttemptOutcome, _ message: WebhookMessage, _ since: Duration, _ now: Moment
  ) -> WebhookDeliveryRecord {
    let result: WebhookDeliveryRecord.Result =
      switch WebhookDeliveryRules.verdict(outcome) {
      case .delivered: .delivered
      case .retry: .failed
      case .rejected, .denied: .rejected
      case .gone: .gone
      }
    var record = WebhookDeliveryRecord(
      message: message.id, time: now.time, result: result, duration: now.uptime - since)
    switch outcome {
    case .answered(let status, _): record.status = status
    case .noRoute: record.detail = "no route to the receiver"
    case .cancelled: record.detail = "the route was lost during the attempt"
    case .failed(let detail): record.detail = detail
    }
    return record
  }

  /// Applies the result of an attempt for the next message.
  mutating func conclude(
    _ outcome: WebhookAttemptOutcome, _ message: WebhookMessage, _ since: Duration, _ now: Moment
  ) -> [Effect] {
    var record = record(outcome, message, since, now)
    let verdict = WebhookDeliveryRules.verdict(outcome)
    if verdict == .denied { deniedSince = deniedSince ?? now.uptime } else { deniedSince = nil }
    switch verdict {
    case .delivered:
      lastDelivery = now.time
      lastFailure = nil
      settle(message)
      return [.record(record)] + save(now)
    case .rejected where position.rejections + 1 >= Limits.rejections,
      .denied where position.rejections + 1 >= Limits.rejections && isDeniedLongEnough(now):
      deniedSince = nil
      record.result = .deadLetter
      lastFailure = record
      settle(message)
      return [.record(record)] + save(now)
    case .rejected, .denied:
      position.rejections += 1
      retry(after: nil, now)
    case .gone: position.pause = .gone
    case .retry(let delay):
      switch outcome {
      // The route decides when the next attempt is made.
      case .cancelled: return [.record(record)]
      // The kernel's report of the loss may follow.
      case .noRoute: wait = Wait(until: now.uptime + Limits.routeRetryPause)
      case .answered, .failed: retry(after: delay, now)
      }
    }
    lastFailure = record
    return [.record(record)] + save(now)
  }

  private func isDeniedLongEnough(_ now: Moment) -> Bool {
    deniedSince.map { now.uptime - $0 >= deniedRetry } ?? false
  }

  private mutating func retry(after delay: Duration?, _ now: Moment) {
    position.failures += 1
    let own = WebhookDeliveryRules.delay(afterFailures: position.failures, random: nextRandom())
    wait = Wait(until: now.uptime + max(own, delay ?? .zero), demanded: now.uptime + (delay ?? .zero))
    if let delay {
      position.notBefore = now.time.advanced(by: delay)
    }
  }

  /// Removes a message that is delivered or given up.
  private mutating func settle(_ message: WebhookMessage) {
    position.failures = 0
    position.rejections = 0
    position.notBefore = nil
    if let gap = position.gap {
      if message.id == WebhookMessage(gap, epoch: epoch, source: source).id { position.gap = nil }
    } else if let sequence = message.sequence {
      position.settled = max(position.settled, sequence)
      while let first = buffer.first, first.sequence <= sequence { buffer.removeFirst() }
      // After a change of the filter the buffer is empty although nothing was read.
      readThrough = max(readThrough, sequence)
      if buffer.isEmpty { position.settled = readThrough }
    }
  }

  /// A number between 0 and 1 (SplitMix64).
  private mutating func nextRandom() -> Double {
    random &+= 0x9e37_79b9_7f4a_7c15
    var mixed = random
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return Double((mixed ^ (mixed >> 31)) >> 11) / Double(1 << 53)
  }
}
