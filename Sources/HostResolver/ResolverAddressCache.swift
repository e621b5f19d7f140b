/// A cache of DNS answers: a value without a clock, so that tests need not wait.
struct ResolverAddressCache {
  typealias Instant = ContinuousClock.Instant

  private struct Entry {
    /// Empty: the name has no address.
    let addresses: ResolvedAddresses
    let stored: Instant
    let expires: Instant
  }

  private var entries: [String: Entry] = [:]
  private let bounds: ClosedRange<Duration>
  private let negative: Duration
  private let capacity: Int

  init(_ configuration: ResolverConfiguration) {
    bounds = configuration.cacheBounds
    negative = min(max(configuration.negativeTimeToLive, .seconds(1)), .seconds(30))
    capacity = min(max(configuration.cacheEntries, 0), Limits.cacheEntries)
  }

  var count: Int { entries.count }

  /// The cached answer for `name`, with the remaining times to live; nil if a query is necessary.
  func lookup(_ name: String, now: Instant) -> Result<ResolvedAddresses, HostResolutionFailure>? {
    guard let entry = entries[name], now < entry.expires else { return nil }
    if entry.addresses.isEmpty { return .failure(.notFound) }
    let age = entry.stored.duration(to: now)
    return .success(entry.addresses.withTimesToLive { $0.map { max(.zero, $0 - age) } })
  }

  /// Stores `addresses` for the smallest of their times to live; an empty list means that the name has no address.
  mutating func store(_ name: String, _ addresses: ResolvedAddresses, now: Instant) {
    guard capacity > 0 else { return }
    let timeToLive = addresses.compactMap(\.timeToLive).min() ?? bounds.lowerBound
    let kept = addresses.isEmpty ? negative : min(max(timeToLive, bounds.lowerBound), bounds.upperBound)
    if entries[name] == nil, entries.count >= capacity { evict(now: now) }
    entries[name] = Entry(addresses: addresses, stored: now, expires: now.advanced(by: kept))
  }

  /// Stores addresses for a short time only: the answer for the other family may have been lost.
  mutating func store(_ name: String, ofOneFamily addresses: ResolvedAddresses, now: Instant) {
    store(name, addresses.withTimesToLive { [negative] in min($0 ?? negative, negative) }, now: now)
  }

  mutating func removeAll() { entries.removeAll() }

  /// Removes expired entries; if there are none, the entry that expires first.
  ///
  /// A full scan, once per answer when the cache is full: it takes microseconds.
  private mutating func evict(now: Instant) {
    entries = entries.filter { now < $0.value.expires }
    guard entries.count >= capacity, let oldest = entries.min(by: { $0.value.expires < $1.value.expires }) else {
      return
    }
    entries[oldest.key] = nil
  }
}
