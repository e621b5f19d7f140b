/// What the DNS said lately: a value, so that its rules can be tested without waiting.
struct AddressCache {
  typealias Instant = ContinuousClock.Instant

  private struct Entry {
    /// Empty: the name has no address.
    let addresses: [ResolvedAddress]
    let stored: Instant
    let expires: Instant
  }

  private var entries: [String: Entry] = [:]
  private let bounds: ClosedRange<Duration>
  private let negative: Duration
  private let capacity: Int

  init(_ configuration: Resolver.Configuration) {
    bounds = configuration.cacheBounds
    negative = min(max(configuration.negativeTimeToLive, .seconds(1)), .seconds(30))
    capacity = min(max(configuration.cacheEntries, 0), Limits.cacheEntries)
  }

  var count: Int { entries.count }

  /// What is remembered of `name`, with what is left of the times to live; nil if it must be asked.
  func lookup(_ name: String, now: Instant) -> Result<[ResolvedAddress], ResolutionFailure>? {
    guard let entry = entries[name], now < entry.expires else { return nil }
    if entry.addresses.isEmpty { return .failure(.notFound) }
    let age = entry.stored.duration(to: now)
    return .success(entry.addresses.map { $0.with(timeToLive: $0.timeToLive.map { max(.zero, $0 - age) }) })
  }

  /// Remembers `addresses` for the smallest of their times to live; none: that the name has no address.
  mutating func store(_ name: String, _ addresses: [ResolvedAddress], now: Instant) {
    guard capacity > 0 else { return }
    let timeToLive = addresses.compactMap(\.timeToLive).min() ?? bounds.lowerBound
    let kept = addresses.isEmpty ? negative : min(max(timeToLive, bounds.lowerBound), bounds.upperBound)
    if entries[name] == nil, entries.count >= capacity { evict(now: now) }
    entries[name] = Entry(addresses: addresses, stored: now, expires: now.advanced(by: kept))
  }

  mutating func removeAll() { entries.removeAll() }

  /// Drops what is over; if nothing is, the answer that is over first.
  ///
  /// A scan, once per answer when full: microseconds.
  private mutating func evict(now: Instant) {
    entries = entries.filter { now < $0.value.expires }
    guard entries.count >= capacity, let oldest = entries.min(by: { $0.value.expires < $1.value.expires }) else {
      return
    }
    entries[oldest.key] = nil
  }
}
