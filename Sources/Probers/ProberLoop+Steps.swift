internal import Glibc
internal import HostResolver
internal import ReachabilityModel

// The steps of a check: its name, its addresses, the limiter, its exchange.
extension ProberLoop {
  func accept(_ check: ProberCheck) {
    if case .address(let address) = check.request.target.host.remote {
      selectPeers(check, [check.request.peer(address)])
    } else {
      proceed(check, limiters.names.acquire(check.id)) { resolve(check) }
    }
  }

  /// Continues, queues or refuses a check, according to a limiter's decision.
  private func proceed(_ check: ProberCheck, _ admission: ProberConcurrencyLimiter.Admission, _ onward: () -> Void) {
    switch admission {
    case .granted: onward()
    case .queued:
      check.enqueue(now)
      setTimer(check)
    case .refused:
      check.enqueue(now)
      conclude(check, ProberResult(.unknown, .cancelled, detail: "too many checks are queued"))
    }
  }

  /// Continues a check that a limiter has admitted.
  func enter(_ check: ProberCheck) {
    guard check.isResolved else { return resolve(check) }
    check.hasSlot = true
    startExchange(check)
  }

  // MARK: Names

  private func resolve(_ check: ProberCheck) {
    guard case .name(let name) = check.request.target.host.remote else { return }
    check.enter(.resolving, now)
    setTimer(check)
    check.resolution = resolve(name, for: check)
  }

  /// Requests the addresses of a name; the answer arrives through the mailbox.
  func resolve(_ name: String, for check: ProberCheck) -> Resolver.Cancellation {
    let id = check.id
    return inbox.resolver.resolve(name, timeout: check.request.boundedTimeout) { [inbox] outcome in
      inbox.resolved(id, outcome)
    }
  }

  func resolved(_ check: ProberCheck, _ outcome: Result<ResolvedAddresses, HostResolutionFailure>) {
    check.resolution = nil
    check.note(.resolve, since: check.begun, now)
    releaseResolver()
    check.step = .resolved
    // Some addresses may have arrived at the last moment: no time is left that could count as the target's.
    if case .success = outcome, check.deadline <= now {
      let message = "the DNS servers used the whole timeout"
      return conclude(check, ProberResult(.unknown, .dnsTimeout, detail: message))
    }
    switch Self.peers(outcome, check.request) {
    case .failure(let finding): conclude(check, finding)
    case .success(let peers): selectPeers(check, peers)
    }
  }

  /// The peers of a name's addresses, or the finding if there are none.
  static func peers(
    _ outcome: Result<ResolvedAddresses, HostResolutionFailure>, _ request: CheckRequest
  ) -> Result<[SocketPeer], ProberResult> {
    switch outcome {
    case .failure(let failure): return .failure(finding(failure))
    case .success(let found):
      return .success(
        found.compactMap { resolved in
          var peer = IPAddress(octets: resolved.bytes).map { request.peer($0) }
          if resolved.scopeID != 0 { peer?.scope = resolved.scopeID }
          return peer
        })
    }
  }

  private func releaseResolver() {
    admit(limiters.names.release { checks[$0] != nil })
  }

  private static func finding(_ failure: HostResolutionFailure) -> ProberResult {
    switch failure {
    case .notFound: ProberResult(.down, .dnsNotFound, detail: "the name does not exist, or has no address")
    case .serverFailure(let message): ProberResult(.unknown, .dnsServerFailure, detail: message)
    case .systemFailure(let error): ProberResult(.unknown, .resolverUnavailable, detail: "\(error)")
    case .timeout: ProberResult(.unknown, .dnsTimeout, detail: "no DNS server answered in time")
    case .invalidName(let message): ProberResult(.down, .dnsNotFound, detail: message)
    case .cancelled: .cancelled
    case .tooManyQueries: ProberResult(.unknown, .cancelled, detail: "too many names are being resolved")
    }
  }

  // MARK: Addresses

  private func selectPeers(_ check: ProberCheck, _ peers: consuming [SocketPeer]) {
    check.isResolved = true
    do throws(ProberResult) {
      check.candidates = try check.permitted(
        peers, check.request.module.addresses, by: check.request.moduleVerdict, else: .denied,
        "no route to any of its addresses")
    } catch {
      return conclude(check, error)
    }
    if check.request.module.addresses == .all, check.candidates.count > 1 {
      startGroup(check, check.candidates)
    } else {
      requestSlot(check)
    }
  }

  /// Starts the exchange of a check when the limiter of its protocol admits it.
  func requestSlot(_ check: ProberCheck) {
    guard let address = check.candidates.first?.address else { return }
    check.limitedAddress = address
    proceed(check, limiters.slots.acquire(check, address)) {
      check.hasSlot = true
      startExchange(check)
    }
  }

  /// Takes a slot of the limiter for an attempt to contact an address.
  ///
  /// - Parameters:
  ///   - check: the check.
  ///   - address: the address.
  ///   - isFirst: whether no other attempt runs: then the check waits in the queue if there is no slot.
  /// - Returns: `refused` if there is none now; `queued` if the check continues later, or has ended.
  func claimSlot(
    _ check: ProberCheck, _ address: IPAddress, isFirst: Bool
  ) -> ProberConcurrencyLimiter.Admission {
    if check.hasSlot {
      check.hasSlot = false
      return .granted
    }
    guard isFirst else { return limiters.slots.acquireIfFree(check, address) ? .granted : .refused }
    check.limitedAddress = address
    let admission = limiters.slots.acquire(check, address)
    guard admission != .granted else { return .granted }
    proceed(check, admission) {}
    return .queued
  }

  /// Releases the slot of an attempt, and admits the checks that waited for it.
  func releaseSlot(_ check: ProberCheck, _ address: IPAddress) {
    admit(limiters.slots.release(check, address) { checks[$0] != nil })
  }

  /// Starts or continues the exchange after the limiter of its protocol has admitted the check.
  private func startExchange(_ check: ProberCheck) {
    check.enter(.asking, now)
    if let exchange = check.exchange {
      exchange.resume()
    } else if let exchange = exchange(check) {
      check.exchange = exchange
      exchange.begin()
    } else {
      conclude(check, ProberResult(.unknown, .cancelled, detail: "no memory for a check"))
    }
    // A connection to this machine is complete here, and needs no timer.
    if check.exchange != nil { setTimer(check) }
  }

  /// The exchange for a check's protocol; nil for a protocol without a prober.
  private func exchange(_ check: ProberCheck) -> (any ProberExchange)? {
    let options = check.request.module.options.value
    if let dialogue = options.dialogue { return TCPExchange(check, dialogue, self) }
    return (options as? any ProberOptions)?.exchange(check, self)
  }

  /// Releases what a check holds, and admits the checks that waited for it.
  func release(_ check: ProberCheck) {
    check.exchange?.end()
    check.exchange = nil
    switch check.step {
    case .waiting, .resolved: break
    case .admitted where !check.isResolved: releaseResolver()
    case .resolving:
      check.resolution?.cancel()
      releaseResolver()
    case .admitted, .asking:
      guard check.hasSlot || check.step == .admitted, let address = check.limitedAddress else { return }
      check.hasSlot = false
      releaseSlot(check, address)
    case .gathering: endGroup(check)
    }
  }
}
