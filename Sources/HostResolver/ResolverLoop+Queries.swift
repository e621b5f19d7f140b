internal import EventLoop

extension ResolverLoop {
  /// Opens new channels and repeats the queries that the old ones had not answered; deadlines stay.
  func reopen() {
    channels.close()
    queries.restart()
  }

  /// Starts waiting queries up to ``Limits/activeNames`` and the configured limit.
  func startWaiting() {
    budget.refill(.now)
    var next = queries.takeNext(atMost: budget.names)
    while !next.isEmpty {
      for id in next { start(id) }
      // c-ares completes the queries that it refuses within the call, which frees capacity for others.
      processAnswers()
      next = queries.takeNext(atMost: budget.names)
    }
    hasDelayedNames = queries.hasWaiting
    if hasDelayedNames, budget.names == 0, let time = budget.nextName { timers.set(.budget, at: time) }
  }

  /// The name to look up in the hosts file: `localhost.` is this machine, too (RFC 6761 §6.3), and never a question to the DNS.
  private static func hostsName(_ name: String) -> String {
    let relative = name.hasSuffix(".") ? String(name.dropLast()) : name
    return relative.split(separator: ".").last?.lowercased() == "localhost" ? relative : name
  }

  private func start(_ id: UInt64) {
    guard var query = queries[id] else { return }
    // Cancelled or expired before its turn.
    if query.waiters.isEmpty { return drop(id) }
    do throws(HostResolutionFailure) {
      let (hosts, dns) = try channels.opened()
      if query.candidates == nil {
        // As in getaddrinfo(3): a line with one family is the whole answer, and a final dot is part of the name there.
        hosts.query(Self.hostsName(query.name), .any, query: id, attempt: 0)
        for answer in hosts.takeAnswers() {
          // After any failure (no file, no such line) the DNS is queried.
          guard case .success(let addresses) = answer.outcome else { continue }
          return finish(id, .success(addresses.withTimesToLive { _ in nil }))
        }
        query.candidates = channels.searchList.candidates(query.name)
      }
      query.attempt += 1
      query.ipv4 = nil
      query.ipv6 = nil
      timers.cancel(.resolutionDelay(id))
      query.askedAt = .now
      queries[id] = query
      let name = query.candidates?.first ?? query.name
      queries.sent(id)
      budget.takeName()
      dns.query(name, .ipv6, query: id, attempt: query.attempt)
      dns.query(name, .ipv4, query: id, attempt: query.attempt)
    } catch {
      finish(id, .failure(error))
    }
  }

  /// Processes c-ares' answers, and completes the names that have an answer for both families.
  func processAnswers() {
    var needsNewSockets = false
    for answer in channels.takeAnswers() {
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
      queries.answered(answer.query)
      if handleResult(answer.query, verdict) { needsNewSockets = true }
    }
    // c-ares keeps a connected socket, and with it the source address, as long as any query is open. After a change of
    // the route to a server, which the kernel does not always announce, only a new socket receives answers.
    if needsNewSockets { reopen() }
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
    guard let query = queries[id], queries.answered(id) else { return }
    if query.earlierFailure == nil { cache.store(query.name, ofOneFamily: query.addresses, now: .now) }
    finish(id, .success(query.addresses))
  }

  /// Handles the result of a query.
  ///
  /// - Returns: whether new sockets are needed, because no server has responded since the query was sent.
  private func handleResult(_ id: UInt64, _ verdict: ResolverNameQuery.Verdict) -> Bool {
    guard let query = queries[id] else { return false }
    switch verdict {
    case .found(let addresses, let isComplete):
      if isComplete, query.earlierFailure == nil {
        cache.store(query.name, addresses, now: .now)
      }
      finish(id, .success(addresses))
    case .notFound:
      if tryNextCandidate(id) { return false }
      if let text = query.earlierFailure {
        finish(id, .failure(.serverFailure(text)))
        return false
      }
      cache.store(query.name, [], now: .now)
      finish(id, .failure(.notFound))
    case .failed(let text):
      // As in glibc: a broken domain of the search list must not hide the others.
      queries[id]?.earlierFailure = query.earlierFailure ?? text
      if !tryNextCandidate(id) { finish(id, .failure(.serverFailure(query.earlierFailure ?? text))) }
    case .noResponse:
      // The requests still have time, for example because they joined late: their deadlines apply, not c-ares' timeout.
      queries.wait(id, isNext: false)
      return !channels.haveResponded(since: query.askedAt)
    }
    return false
  }

  /// Puts the query first in the queue for its next candidate; false if there is none.
  private func tryNextCandidate(_ id: UInt64) -> Bool {
    guard let rest = queries[id]?.candidates?.dropFirst(), !rest.isEmpty else { return false }
    queries[id]?.candidates = Array(rest)
    queries.wait(id, isNext: true)
    return true
  }

  /// Completes all requests for a name.
  private func finish(_ id: UInt64, _ outcome: Outcome) {
    for waiter in queries[id]?.waiters.sorted() ?? [] { complete(waiter, outcome) }
    drop(id)
  }

  private func drop(_ id: UInt64) {
    if queries.remove(id) { timers.cancel(.resolutionDelay(id)) }
  }
}
