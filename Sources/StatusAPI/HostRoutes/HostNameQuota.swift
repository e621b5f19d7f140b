internal import HTTPRouting
internal import Locks

/// Limits the names that clients have looked up and watched: each causes queries to a third party's name server.
final class HostNameQuota: Sendable {
  /// Names per second and client.
  static let namesPerSecond = 10.0
  /// Names of a client in a burst after a pause: those of a stream with as many as it may have.
  static let burst = Double(HostEventPublisher.hostsPerStreamLimit)
  /// Names of all clients together per second, and in a burst.
  static let namesPerSecondOfAll = 50.0
  static let burstOfAll = 256.0
  /// The names per second, and in a burst, for requests with few names of clients that have looked up none for some seconds:
  /// other clients cannot use them up.
  static let reservePerSecond = 50.0
  static let reserveBurst = 128.0
  /// The names of such a request.
  static let reservedNames = 4
  /// The names that one client watches: those of ten streams.
  static let watchesOfClient = 10 * HostEventPublisher.hostsPerStreamLimit
  /// The names that all clients watch.
  static let watches = HostEventPublisher.watches
  /// The maximum number of counted clients; above it, clients with full credit are removed, and if that is not enough, all
  /// counts are reset.
  static let clientLimit = 1_024

  struct Excess: Equatable {
    enum Scope: Equatable { case client, all }

    var scope: Scope
    /// Seconds after which another attempt makes sense.
    var retryAfter: Int
  }

  private struct Bucket {
    var credit: Double
    var at: ContinuousClock.Instant

    init(_ capacity: Double, _ now: ContinuousClock.Instant) { (credit, at) = (capacity, now) }

    mutating func refill(_ perSecond: Double, _ capacity: Double, _ now: ContinuousClock.Instant) {
      credit = min(capacity, credit + max(0, (now - at) / .seconds(1)) * perSecond)
      at = now
    }
  }

  private struct State {
    var clients: [String: Bucket] = [:]
    var all: Bucket
    var reserve: Bucket
    /// How often each client watches each name.
    var watched: [String: [String: Int]] = [:]
    var watchCount = 0
  }

  private let state: Locked<State>

  init(now: ContinuousClock.Instant = .now) {
    state = Locked(State(all: Bucket(Self.burstOfAll, now), reserve: Bucket(Self.reserveBurst, now)))
  }

  // MARK: - Lookups

  /// Counts lookups of names for a client.
  ///
  /// - Returns: nil if they may be made, otherwise the reason.
  func consume(_ names: Int, client: String, now: ContinuousClock.Instant = .now) -> Excess? {
    guard names > 0 else { return nil }
    let count = Double(names)
    return state.withLock { state in
      var own = Self.bucket(of: client, &state, now)
      state.all.refill(Self.namesPerSecondOfAll, Self.burstOfAll, now)
      state.reserve.refill(Self.reservePerSecond, Self.reserveBurst, now)
      let isRested = own.credit >= Self.burst
      guard own.credit >= count else {
        state.clients[client] = own
        return Excess(scope: .client, retryAfter: Self.seconds((count - own.credit) / Self.namesPerSecond))
      }
      if state.all.credit >= count {
        state.all.credit -= count
      } else if isRested, names <= Self.reservedNames, state.reserve.credit >= count {
        state.reserve.credit -= count
      } else {
        state.clients[client] = own
        let shortage = (count - state.all.credit) / Self.namesPerSecondOfAll
        return Excess(scope: .all, retryAfter: Self.seconds(shortage))
      }
      own.credit -= count
      state.clients[client] = own
      return nil
    }
  }

  private static func bucket(of client: String, _ state: inout State, _ now: ContinuousClock.Instant) -> Bucket {
    if state.clients.count >= clientLimit, state.clients[client] == nil {
      state.clients = state.clients.filter { entry in
        var bucket = entry.value
        bucket.refill(namesPerSecond, burst, now)
        return bucket.credit < burst
      }
      if state.clients.count >= clientLimit { state.clients = [:] }
    }
    var bucket = state.clients[client] ?? Bucket(burst, now)
    bucket.refill(namesPerSecond, burst, now)
    return bucket
  }

  private static func seconds(_ wait: Double) -> Int { max(1, Int(wait.rounded(.up))) }

  // MARK: - Watches

  /// The watches of a client, which end with this object.
  final class Lease: Sendable {
    private let quota: HostNameQuota
    private let names: Set<String>
    private let client: String

    fileprivate init(_ quota: HostNameQuota, _ names: Set<String>, _ client: String) {
      (self.quota, self.names, self.client) = (quota, names, client)
    }

    deinit { quota.release(names, client) }
  }

  /// Counts watches of names for a client.
  ///
  /// - Returns: the watches; nil when the client, or all clients together, would watch too many names.
  func watch(_ names: Set<String>, client: String) -> Lease? {
    guard !names.isEmpty else { return Lease(self, names, client) }
    let isAdmitted = state.withLock { state in
      let own = state.watched[client] ?? [:]
      let new = names.count { own[$0] == nil }
      guard own.count + new <= Self.watchesOfClient, state.watchCount + new <= Self.watches else { return false }
      for name in names { state.watched[client, default: [:]][name, default: 0] += 1 }
      state.watchCount += new
      return true
    }
    return isAdmitted ? Lease(self, names, client) : nil
  }

  private func release(_ names: Set<String>, _ client: String) {
    guard !names.isEmpty else { return }
    state.withLock { state in
      for name in names {
        guard let count = state.watched[client]?[name] else { continue }
        state.watched[client]?[name] = count > 1 ? count - 1 : nil
        if count == 1 { state.watchCount -= 1 }
      }
      if state.watched[client]?.isEmpty == true { state.watched[client] = nil }
    }
  }
}

extension RequestContext {
  /// Counts lookups of names against the limits of the client and of all clients.
  ///
  /// - Throws: `rateLimited` with the time after which they may be made.
  func countNames(_ names: Int, hint: String) throws(Problem) {
    guard let excess = service.hostNames.consume(names, client: client) else { return }
    let limit =
      switch excess.scope {
      case .client: "more than \(Int(HostNameQuota.namesPerSecond)) names per second, after \(Int(HostNameQuota.burst))"
      case .all: "the clients together look up more than \(Int(HostNameQuota.namesPerSecondOfAll)) names per second"
      }
    throw Problem(
      .rateLimited, "\(limit); retry later\(hint)", headers: ["Retry-After": String(excess.retryAfter)])
  }
}
