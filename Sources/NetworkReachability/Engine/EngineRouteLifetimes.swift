internal import ReachabilityModel

/// The expiry times of the routes behind answers, and the lookups to repeat because of them.
///
/// The kernel reports little about the lifetime of a route: its end causes no event, and neither does a router
/// advertisement that shortens it, or that renews an expired route which has not been garbage-collected yet.
struct EngineRouteLifetimes {
  /// The expiry of the route behind each answer, as an uptime.
  private var expiries: [RouteQuery: Duration] = [:]
  /// Until when to repeat lookups whose routes have expired.
  private var revivals: [RouteQuery: Duration] = [:]
  /// The lookups that the last survey repeated.
  private(set) var due: Set<RouteQuery> = []
  private var lastSurvey = Duration.zero
  /// The last survey that repeated the lookups of all routes with a lifetime.
  private var lastFullCheck = Duration.zero

  /// Starts a survey: determines ``due``, the lookups whose routes have expired, and periodically all routes with a lifetime.
  mutating func beginSurvey(at uptime: Duration) {
    lastSurvey = uptime
    guard lastFullCheck + Limits.expiryCheck > uptime else {
      lastFullCheck = uptime
      due = Set(expiries.keys).union(revivals.keys)
      return
    }
    due = Set(expiries.lazy.filter { $0.value + Limits.expiredRouteRecheck <= uptime }.map(\.key))
  }

  /// The uptime at which lookups must be repeated; nil when no route has a lifetime.
  var nextDeadline: Duration? {
    guard !expiries.isEmpty || !revivals.isEmpty else { return nil }
    let end = expiries.values.min().map { $0 + Limits.expiredRouteRecheck }
    return [end, lastFullCheck + Limits.expiryCheck].compactMap(\.self).min()
  }

  func hasExpiry(by uptime: Duration) -> Bool { expiries.values.contains { $0 <= uptime } }

  /// The causes that follow from a reading and the lifetimes known before it.
  func causes(of reading: KernelReading) -> Set<Cause> {
    var causes: Set<Cause> = []
    if hasExpiry(by: reading.uptime) { causes.insert(.routeExpired) }
    // A change with an event has the cause of that event.
    guard reading.causes.isEmpty else { return causes }
    for query in due {
      let hasLifetime = reading.answers[query].map { $0.found?.expiresIn != nil } ?? true
      if let end = expiries[query], end > reading.uptime + Limits.unreadableLifetime, !hasLifetime {
        causes.insert(.routeExpired)
      }
      if revivals[query] != nil, reading.answers[query]?.found?.expiresIn != nil { causes.insert(.routeAdded) }
    }
    return causes
  }

  mutating func update(from reading: KernelReading) {
    // A lookup that was due and not repeated belongs to no target any more.
    for query in due where reading.answers[query] == nil {
      expiries[query] = nil
      revivals[query] = nil
    }
    if expiries.isEmpty, revivals.isEmpty { lastFullCheck = reading.uptime }
    for (query, answer) in reading.answers {
      if let left = answer.found?.expiresIn {
        expiries[query] = reading.uptime + max(left, .zero)
        revivals[query] = nil
      } else if let end = expiries[query] {
        let hasEnded = end + Limits.expiredRouteRecheck <= lastSurvey
        // In its last clock ticks a route appears to have no lifetime, so a near expiry is kept.
        guard hasEnded || end > reading.uptime + Limits.unreadableLifetime else { continue }
        expiries[query] = nil
        // Until it is garbage-collected, an advertisement can renew the route without an event.
        revivals[query] = reading.uptime + Limits.revivalPeriod
      } else if let last = revivals[query], last <= reading.uptime {
        revivals[query] = nil
      }
    }
  }

  /// Removes all lifetimes, because the kernel cannot be read or the source was stopped.
  mutating func removeAll() {
    expiries = [:]
    revivals = [:]
  }
}
