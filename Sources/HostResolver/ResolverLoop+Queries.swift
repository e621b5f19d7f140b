internal import DequeModule
internal import EventLoop

extension ResolverLoop {
  /// Opens new channels and repeats the queries that the old ones had not answered; deadlines stay.
  func reopen() {
    dns?.close()
    dns = nil
    hosts?.close()
    hosts = nil
    waiting.prepend(contentsOf: inFlight.sorted())
    inFlight.removeAll()
    // The search list may have changed.
    for id in queries.keys {
      queries[id]?.candidates = nil
      queries[id]?.earlierFailure = nil
    }
  }

  /// Starts waiting queries up to ``Limits/activeNames``.
  func startWaiting() {
    while !waiting.isEmpty, inFlight.count < Limits.activeNames {
      let next = Array(waiting.prefix(Limits.activeNames - inFlight.count))
      waiting.removeFirst(next.count)
      for id in next { start(id) }
      // c-ares completes the queries that it refuses within the call, which frees capacity for others.
      processAnswers()
    }
  }

  private func start(_ id: UInt64) {
    guard var query = queries[id] else { return }
    // Cancelled or expired before its turn.
    if query.waiters.isEmpty { return drop(id) }
    do throws(ResolutionFailure) {
      let (hosts, dns) = try openChannels()
      if query.candidates == nil {
        // The hosts file contains names without final dots.
        let line = query.name.hasSuffix(".") ? String(query.name.dropLast()) : query.name
        hosts.query(line, .any, query: id, attempt: 0)
        for answer in hosts.takeAnswers() {
          // After any failure (no file, no such line) the DNS is queried.
          guard case .success(let addresses) = answer.outcome else { continue }
          return finish(id, .success(addresses.withTimesToLive { _ in nil }))
        }
        query.candidates = hosts.searchList.candidates(query.name)
      }
      query.attempt += 1
      query.ipv4 = nil
      query.ipv6 = nil
      timers.cancel(.resolutionDelay(id))
      query.askedAt = .now
      queries[id] = query
      let name = query.candidates?.first ?? query.name
      inFlight.insert(id)
      dns.query(name, .ipv6, query: id, attempt: query.attempt)
      dns.query(name, .ipv4, query: id, attempt: query.attempt)
    } catch {
      finish(id, .failure(error))
    }
  }

  private func openChannels() throws(ResolutionFailure) -> (hosts: AresChannel, dns: AresChannel) {
    if let hosts, let dns { return (hosts, dns) }
    let configuration = inbox.configuration
    let files = try AresChannel(
      .hosts, configuration, serverTimeout: Limits.dnsServerTimeout.lowerBound, poller: poller)
    let parts = max(1, files.serverCount) * Limits.dnsTimeoutDivisor
    let serverTimeout = min(
      max(configuration.timeout / parts, Limits.dnsServerTimeout.lowerBound), Limits.dnsServerTimeout.upperBound)
    let network = try AresChannel(.dns, configuration, serverTimeout: serverTimeout, poller: poller)
    hosts = files
    dns = network
    return (files, network)
  }

  /// Processes c-ares' answers, and completes the names that have an answer for both families.
  func processAnswers() {
    for answer in dns?.takeAnswers() ?? [] {
      if !answer.isTimeout { lastResponse = .now }
      guard let query = queries[answer.query], query.attempt == answer.attempt else { continue }
      if answer.family == .ipv4 {
        queries[answer.query]?.ipv4 = answer.outcome
      } else {
        queries[answer.query]?.ipv6 = answer.outcome
      }
      guard let verdict = queries[answer.query]?.verdict else {
        limitWaitForOtherFamily(answer.query)
        continue
      }
      inFlight.remove(answer.query)
      handleResult(answer.query, verdict)
    }
    // c-ares keeps a connected socket, and with it the source address, as long as any query is open. After a change of
    // the route to a server, which the kernel does not always announce, only a new socket receives answers.
    if needsNewSockets {
      needsNewSockets = false
      reopen()
    }
  }

  /// Limits the wait for the other family after one has an address: some servers never answer for IPv6.
  private func limitWaitForOtherFamily(_ id: UInt64) {
    guard let query = queries[id], timers.deadline(of: .resolutionDelay(id)) == nil, !query.addresses.isEmpty else {
      return
    }
    timers.set(.resolutionDelay(id), at: .now.advanced(by: Limits.resolutionDelay))
  }

  /// Completes a query with the addresses of one family.
  func otherFamilyTimedOut(_ id: UInt64) {
    guard let query = queries[id], inFlight.remove(id) != nil else { return }
    if query.earlierFailure == nil {
      // Cached for a short time only: the answer for the other family may have been lost.
      let brief = inbox.configuration.negativeTimeToLive
      let addresses = query.addresses.withTimesToLive { min($0 ?? brief, brief) }
      cache.store(query.name, addresses, now: .now)
    }
    finish(id, .success(query.addresses))
  }

  private func handleResult(_ id: UInt64, _ verdict: NameQuery.Verdict) {
    guard let query = queries[id] else { return }
    switch verdict {
    case .found(let addresses, let isComplete):
      if isComplete, query.earlierFailure == nil {
        cache.store(query.name, addresses, now: .now)
      }
      finish(id, .success(addresses))
    case .notFound:
      if tryNextCandidate(id) { return }
      if let text = query.earlierFailure { return finish(id, .failure(.serverFailure(text))) }
      cache.store(query.name, [], now: .now)
      finish(id, .failure(.notFound))
    case .failed(let text):
      // As in glibc: a broken domain of the search list must not hide the others.
      queries[id]?.earlierFailure = query.earlierFailure ?? text
      if !tryNextCandidate(id) { finish(id, .failure(.serverFailure(query.earlierFailure ?? text))) }
    case .noResponse:
      // The requests still have time, for example because they joined late: their deadlines apply, not c-ares' timeout.
      waiting.append(id)
      if lastResponse.map({ $0 < query.askedAt }) ?? true { needsNewSockets = true }
    }
  }

  /// Puts the query first in the queue for its next candidate; false if there is none.
  private func tryNextCandidate(_ id: UInt64) -> Bool {
    guard let rest = queries[id]?.candidates?.dropFirst(), !rest.isEmpty else { return false }
    queries[id]?.candidates = Array(rest)
    waiting.prepend(id)
    return true
  }

  /// Completes all requests for a name.
  private func finish(_ id: UInt64, _ outcome: Outcome) {
    for waiter in queries[id]?.waiters.sorted() ?? [] { complete(waiter, outcome) }
    drop(id)
  }

  private func drop(_ id: UInt64) {
    guard let query = queries.removeValue(forKey: id) else { return }
    timers.cancel(.resolutionDelay(id))
    if queryByName[query.name] == id { queryByName[query.name] = nil }
  }
}
