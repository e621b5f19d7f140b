internal import ReachabilityModel

/// The limiters of concurrent checks: of those with sockets of their own, and of those that share the ICMP sockets.
struct ProberSlots {
  private var sockets = ProberConcurrencyLimiter(
    capacity: ProberSocketCapacity.current, perAddress: Limits.checksPerAddress, queueLimit: Limits.checksWaiting)
  private var echoes = ProberConcurrencyLimiter(
    capacity: Limits.echoesOpen, perAddress: Limits.checksPerAddress, queueLimit: Limits.checksWaiting)

  /// Requests a slot for an attempt to contact an address.
  mutating func acquire(_ check: ProberCheck, _ address: IPAddress) -> ProberConcurrencyLimiter.Admission {
    check.isEcho ? echoes.acquire(check.id, address) : sockets.acquire(check.id, address)
  }

  /// Takes a slot only if it is free and no check waits.
  mutating func acquireIfFree(_ check: ProberCheck, _ address: IPAddress) -> Bool {
    check.isEcho ? echoes.acquireIfFree(address) : sockets.acquireIfFree(address)
  }

  /// Releases a slot; returns the checks that have one now.
  mutating func release(_ check: ProberCheck, _ address: IPAddress, isWaiting: (UInt64) -> Bool) -> [UInt64] {
    check.isEcho ? echoes.release(address, isWaiting: isWaiting) : sockets.release(address, isWaiting: isWaiting)
  }
}

extension ProberCheck {
  fileprivate var isEcho: Bool { request.target.scheme == .icmp }
}
