internal import ReachabilityModel

// Of a route's life the kernel says little: its end has no event, and neither has an advertisement that shortens it, or
// that gives a route a new one which ran out and was not collected yet.
extension EngineState {
  /// The questions whose answers have run out; from time to time all whose answers will, or did a while ago.
  mutating func takeDue(at uptime: Duration) -> Set<RouteQuery> {
    guard lastExpiryCheck + Limits.expiryCheck > uptime else {
      lastExpiryCheck = uptime
      return Set(expiries.keys).union(revivals.keys)
    }
    return Set(expiries.lazy.filter { $0.value + Limits.expiredRouteRecheck <= uptime }.map(\.key))
  }

  /// When the kernel must be asked about lives again; nil for never.
  var nextLifeCheck: Duration? {
    guard !expiries.isEmpty || !revivals.isEmpty else { return nil }
    let end = expiries.values.min().map { $0 + Limits.expiredRouteRecheck }
    return [end, lastExpiryCheck + Limits.expiryCheck].compactMap(\.self).min()
  }

  /// What a reading tells of lives, by what was known of them before.
  func lifeCauses(of reading: KernelReading) -> Set<Cause> {
    var causes: Set<Cause> = []
    if expiries.values.contains(where: { $0 <= reading.uptime }) { causes.insert(.routeExpired) }
    // What has an event has its cause.
    guard reading.causes.isEmpty else { return causes }
    for query in dueQueries {
      let hasLife = reading.answers[query].map { $0.found?.expiresIn != nil } ?? true
      if let end = expiries[query], end > reading.uptime + Limits.unreadableLife, !hasLife {
        causes.insert(.routeExpired)
      }
      if revivals[query] != nil, reading.answers[query]?.found?.expiresIn != nil { causes.insert(.routeAdded) }
    }
    return causes
  }

  /// Notes until when the answers of a reading hold.
  mutating func noteLives(in reading: KernelReading) {
    // What was due and was not asked about again has nobody who wants to know.
    for query in dueQueries where reading.answers[query] == nil {
      expiries[query] = nil
      revivals[query] = nil
    }
    if expiries.isEmpty, revivals.isEmpty { lastExpiryCheck = reading.uptime }
    for (query, answer) in reading.answers {
      if let left = answer.found?.expiresIn {
        expiries[query] = reading.uptime + max(left, .zero)
        revivals[query] = nil
      } else if let end = expiries[query] {
        let hasEnded = end + Limits.expiredRouteRecheck <= lastSurvey
        // In its last ticks a route looks as if it lived for ever: an end that is near stays noted.
        guard hasEnded || end > reading.uptime + Limits.unreadableLife else { continue }
        expiries[query] = nil
        // Until it is collected a new advertisement can revive it, without an event.
        revivals[query] = reading.uptime + Limits.revivalWatch
      } else if let last = revivals[query], last <= reading.uptime {
        revivals[query] = nil
      }
    }
  }
}
