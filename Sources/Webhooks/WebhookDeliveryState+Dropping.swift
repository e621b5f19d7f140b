// Events that are not sent, and the position that they move.
extension WebhookDeliveryState {
  /// Drops the events at the head that are too old.
  mutating func expire(_ now: Moment) -> [Effect] {
    var (last, count) = (UInt64(0), 0)
    while let event = buffer.first, age(of: event, now) > maximumAge {
      buffer.removeFirst()
      (last, count) = (event.sequence, count + 1)
    }
    guard count > 0 else { return [] }
    drop(through: last, count: count, .expired, now)
    let record = WebhookDeliveryRecord(
      message: "\(epoch)-\(last)", time: now.time, result: .dropped, detail: "\(count) events older than maxAge")
    return [.record(record)] + save(now)
  }

  func age(of event: WebhookEvent, _ now: Moment) -> Duration { event.age + (now.uptime - event.readAt) }

  /// Adds events to the gap; they are settled.
  mutating func drop(through last: UInt64, count: Int?, _ reason: WebhookGap.Reason, _ now: Moment) {
    if var gap = position.gap {
      gap.last = last
      gap.count = gap.count.flatMap { known in count.map { known + $0 } }
      position.gap = gap
    } else {
      position.gap = WebhookGap(
        reason: reason, after: "\(epoch)-\(position.settled)", last: last, count: count, time: now.time)
      position.failures = 0
      position.rejections = 0
    }
    position.settled = max(position.settled, last)
  }

  mutating func save(_ now: Moment) -> [Effect] {
    saved = position.settled
    savedAt = now.uptime
    return [.save(position)]
  }

  /// Stores a position that only skipped events have moved, rarely.
  mutating func saveSkipped(_ now: Moment) -> [Effect] {
    guard saved < position.settled else { return [] }
    let due = savedAt + Limits.skipSave
    return due <= now.uptime ? save(now) : [.wake(at: due)]
  }
}
