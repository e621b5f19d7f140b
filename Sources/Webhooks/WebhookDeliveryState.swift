internal import DequeModule
internal import ReachabilityModel

/// The delivery of one webhook: a state machine without clock, sockets or files.
///
/// Its inputs return the effects that the caller must perform, in order. At most one request is in progress, and messages
/// are sent in the order of their events.
struct WebhookDeliveryState: Sendable {
  let epoch: String
  let source: String
  var position: WebhookPosition
  var maximumAge: Duration
  /// The time for which a message is sent again that the receiver denies, and when it denied this one first; a restart begins it again.
  var deniedRetry: Duration
  var deniedSince: Duration?
  /// The number of the last visible event.
  var end: UInt64
  /// The events to send, the next one first, and the number up to which events were read.
  var buffer: Deque<WebhookEvent> = []
  var readThrough: UInt64
  var activity = Activity.none
  var wait: Wait?
  /// Whether this machine has a route to the receiver; nil until that is known.
  var hasRoute: Bool?
  /// When the last attempt ended with success, and the last entry that is not one.
  var lastDelivery: Timestamp?
  var lastFailure: WebhookDeliveryRecord?
  var requested: Deque<(token: Int, message: WebhookMessage)> = []
  var lastAttempt: Duration?
  var readAgain: Duration?
  /// The position that is stored, and when it was.
  var saved: UInt64
  var savedAt: Duration
  /// Whether another process continues: nothing is begun.
  var isReleased = false
  var lastNumber = 0
  var random: UInt64

  /// Begins or continues the deliveries of a webhook.
  ///
  /// - Parameters:
  ///   - position: the stored state; nil for a new webhook, which begins at the present end.
  ///   - epoch: the epoch of the events.
  ///   - end: the number of the last visible event.
  ///   - maximumAge: the age at which events are dropped.
  ///   - deniedRetry: the time for which a message is sent again that the receiver denies.
  ///   - source: the attribute `source` of the messages.
  ///   - seed: determines the deviations of the delays.
  ///   - now: the present time.
  init(
    _ position: WebhookPosition?, epoch: String, end: UInt64, maximumAge: Duration,
    deniedRetry: Duration = WebhookDefinition.defaultDeniedRetry, source: String, seed: UInt64, _ now: Moment
  ) {
    var position = position ?? WebhookPosition(epoch: epoch, settled: end)
    if position.epoch != epoch || position.settled > end {
      let after = position.gap?.after ?? "\(position.epoch)-\(position.settled)"
      position.gap = WebhookGap(reason: .newEpoch, after: after, last: end, count: nil, time: now.time)
      position.epoch = epoch
      position.settled = end
      position.failures = 0
      position.rejections = 0
    }
    self.position = position
    self.epoch = epoch
    self.source = source
    self.maximumAge = maximumAge
    self.deniedRetry = deniedRetry
    self.end = end
    readThrough = position.settled
    saved = position.settled
    savedAt = now.uptime
    random = seed
    if let notBefore = position.notBefore {
      let rest = max(.zero, now.time.duration(to: notBefore))
      let demanded = now.uptime + min(rest, Limits.longestRetryAfter)
      wait = Wait(until: demanded, demanded: demanded)
    }
  }

  // MARK: - Inputs

  /// Begins: stores the position, so that a new webhook, or a gap, survives a restart.
  mutating func start(_ now: Moment) -> [Effect] { save(now) + advance(now) }

  /// More events are visible, up to this number.
  mutating func available(_ end: UInt64, _ now: Moment) -> [Effect] {
    guard end > self.end else { return [] }
    self.end = end
    return advance(now)
  }

  /// The answer to a read; answers to reads before a change of the filter are ignored.
  mutating func received(_ batch: WebhookBatch, from number: Int, _ now: Moment) -> [Effect] {
    guard activity == .reading(number: number) else { return [] }
    activity = .none
    switch batch {
    case .events(let events, let through) where through > readThrough:
      for var event in events {
        event.readAt = now.uptime
        buffer.append(event)
      }
      readThrough = through
    case .missing(let through):
      let last = max(through, readThrough + 1)
      drop(through: last, count: nil, .unavailable, now)
      readThrough = last
      return save(now) + advance(now)
    case .events, .failed: readAgain = now.uptime + Limits.readRetry
    }
    return advance(now)
  }

  mutating func finished(_ outcome: WebhookAttemptOutcome, _ number: Int, _ now: Moment) -> [Effect] {
    guard case .sending(number, let message, let since, let purpose) = activity else { return [] }
    activity = .none
    switch purpose {
    case .requested(let token):
      let result = record(outcome, message, since, now)
      return [.record(result), .report(token: token, result)] + advance(now)
    case .next:
      lastAttempt = since
      return conclude(outcome, message, since, now) + advance(now)
    }
  }

  /// The route to the receiver has changed, or its state was reported first.
  mutating func routeChanged(isPresent: Bool, _ now: Moment) -> [Effect] {
    hasRoute = isPresent
    guard isPresent else {
      guard case .sending(let number, _, _, _) = activity else { return advance(now) }
      // A connection over a lost route would only end at the timeout.
      return [.cancel(number: number)] + advance(now)
    }
    position.failures = 0
    if let wait {
      let earliest = max(now.uptime, lastAttempt.map { $0 + Limits.routeRetryPause } ?? now.uptime, wait.demanded)
      self.wait?.until = min(wait.until, earliest)
    }
    return advance(now)
  }

  mutating func pause(_ now: Moment) -> [Effect] {
    guard position.pause == nil else { return [] }
    position.pause = .requested
    return save(now)
  }

  /// A client resumes the webhook: the next message is sent immediately.
  mutating func resume(_ now: Moment) -> [Effect] {
    position.pause = nil
    position.notBefore = nil
    position.failures = 0
    position.rejections = 0
    deniedSince = nil
    wait = nil
    return save(now) + advance(now)
  }

  /// A client requests one attempt for a message, before the others; false when too many wait.
  mutating func request(_ message: WebhookMessage, token: Int, _ now: Moment) -> [Effect]? {
    guard requested.count < Limits.manualDeliveries else { return nil }
    requested.append((token, message))
    return advance(now)
  }

  /// The webhook is removed: its request is cancelled, and its clients get a response.
  func remove() -> [Effect] {
    var effects: [Effect] = []
    if case .sending(let number, _, _, let purpose) = activity {
      effects.append(.cancel(number: number))
      if case .requested(let token) = purpose { effects.append(.abandon(token: token)) }
    }
    return effects + requested.map { .abandon(token: $0.token) }
  }

  /// The settings have changed: unsent events are read again, because the filter may have changed.
  mutating func reconfigure(
    maximumAge: Duration, deniedRetry: Duration = WebhookDefinition.defaultDeniedRetry, _ now: Moment
  ) -> [Effect] {
    self.maximumAge = maximumAge
    self.deniedRetry = deniedRetry
    buffer = []
    readThrough = position.settled
    readAgain = nil
    if case .reading = activity { activity = .none }
    return advance(now)
  }
}
