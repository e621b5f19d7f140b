internal import CNetlink
internal import Glibc
internal import ReachabilityModel

// Route lookups.
extension NetlinkQuerySocket {
  /// Looks up routes as connect(2) does.
  ///
  /// IPv4 looks up twice (`ip_route_connect` in include/net/route.h): once for the source address, and again with that
  /// source. Rules for this source then apply, and another of several next hops may be selected. IPv6 looks up with a
  /// source only after a refusal without one, or if the socket has one.
  ///
  /// - Parameters:
  ///   - queries: any number of queries.
  ///   - bySource: whether IPv4 rules for source addresses exist.
  /// - Returns: an answer for every query.
  /// - Throws: a ``KernelError`` when answers are missing; a refusal of a destination is an answer.
  func lookUp(_ queries: [RouteQuery], bySource: Bool) throws(KernelError) -> [RouteQuery: RouteAnswer] {
    var answers = try lookUp(queries)
    var again: [RouteQuery: RouteQuery] = [:]
    for (query, answer) in answers {
      switch secondLookup(after: answer, to: query, bySource) {
      case .none: break
      case .refused(let refusal): answers[query] = .refused(refusal)
      case .from(let source):
        var bound = query
        bound.source = source
        again[query] = bound
      }
    }
    guard !again.isEmpty else { return answers }
    let second = try lookUp(Array(Set(again.values)), sendsBoundSources: true)
    for (query, asked) in again {
      if let answer = second[asked], try isFinal(answer, to: query) { answers[query] = answer }
    }
    return answers
  }

  /// What follows the kernel's first lookup.
  private enum SecondLookup {
    /// The first answer is final.
    case none
    /// A lookup with this source address.
    case from(IPAddress)
    /// The kernel has made the second lookup, and refused.
    case refused(RouteAnswer.Refusal)
  }

  private func secondLookup(after answer: RouteAnswer, to query: RouteQuery, _ bySource: Bool) -> SecondLookup {
    switch (query.destination.family, answer) {
    case (_, .refused(.failed)): return .none
    case (.ipv4, .route(let route)) where query.source == nil:
      guard bySource || route.selectsByDestination, let source = route.source else { return .none }
      return .from(source)
    // The first lookup was made without the source (``RouteLookup``).
    case (.ipv6, _) where query.source != nil && query.interfaceIndex != nil:
      return query.source.map { .from($0) } ?? .none
    // connect(2) refuses link-local addresses without an interface for a reason of its own.
    case (.ipv6, .refused(let first))
    where query.source == nil && !query.destination.isLinkLocal && !query.destination.isMulticast:
      switch sources?.selection(towards: query.destination, through: query.interfaceIndex) {
      case .source(let source): return .from(source)
      // IPv6 reports a missing and an unreachable route alike, as connections do.
      case .refused(EACCES): return .refused(.prohibited)
      case .refused(EINVAL): return .refused(.blackhole)
      case .refused(EHOSTUNREACH) where first == .noRoute: return .refused(.unreachable)
      case .refused, .unavailable, nil: return .none
      }
    default: return .none
    }
  }

  /// Whether the answer to a second lookup replaces the first.
  ///
  /// With a source, IPv6 treats the interface as a preference. A bound connection has the route of this answer only if it
  /// uses the interface, and its refusal only if a rule causes it: it passes over routes that reject packets.
  private func isFinal(_ answer: RouteAnswer, to query: RouteQuery) throws(KernelError) -> Bool {
    let isBound = query.destination.family == .ipv6 && query.interfaceIndex != nil
    switch answer {
    case .refused(.failed): return false
    case .route(let route) where isBound:
      return route.hops.indices.contains(route.taken) && route.hops[route.taken].interfaceIndex == query.interfaceIndex
    // Rules refuse with other errors.
    case .refused(.unreachable) where isBound: return false
    case .refused(.prohibited) where isBound, .refused(.blackhole) where isBound: return try hasRejectingRules()
    default: return true
    }
  }

  /// Looks up routes once, 64 requests at a time.
  ///
  /// - Parameters:
  ///   - queries: any number of queries.
  ///   - sendsBoundSources: whether IPv6 queries with a source and an interface are sent with both.
  /// - Returns: an answer for every query.
  /// - Throws: a ``KernelError`` when answers are missing.
  func lookUp(
    _ queries: [RouteQuery], sendsBoundSources: Bool = false
  ) throws(KernelError) -> [RouteQuery: RouteAnswer] {
    var answers: [RouteQuery: RouteAnswer] = [:]
    guard !queries.isEmpty else { return answers }
    answers.reserveCapacity(queries.count)
    var rest = queries[...]
    while !rest.isEmpty {
      let part = rest.prefix(Limits.requestsPerSend / 2)
      rest = rest.dropFirst(part.count)
      var lookups: [NetlinkRouteLookup] = []
      lookups.reserveCapacity(part.count)
      for query in part {
        if let source = query.source, source.family != query.destination.family {
          answers[query] = .refused(.failed(errno: EAFNOSUPPORT))
        } else {
          lookups.append(
            NetlinkRouteLookup(
              query: query, sendsBoundSource: sendsBoundSources, hasErrorTexts: socket.hasErrorTexts))
        }
      }
      for lookup in try answered(lookups) {
        answers[lookup.query] = lookup.isRouteUnknown ? withSource(lookup.answer, to: lookup.query) : lookup.answer
      }
    }
    return answers
  }

  /// Adds the source address that a connected socket shows, which a kernel without `RTM_F_FIB_MATCH` does not report.
  private func withSource(_ answer: RouteAnswer, to query: RouteQuery) -> RouteAnswer {
    // The interface of the query is that of the route.
    let interface = query.destination.family == .ipv6 ? query.interfaceIndex : nil
    guard case .route(var route) = answer, route.type == .unicast, route.source == nil,
      case .source(let source) = sources?.selection(towards: query.destination, through: interface)
    else { return answer }
    route.source = source
    return .route(route)
  }

  /// Sends lookups together, and returns them with the kernel's answers.
  private func answered(_ unanswered: consuming [NetlinkRouteLookup]) throws(KernelError) -> [NetlinkRouteLookup] {
    var lookups = unanswered
    guard !lookups.isEmpty else { return lookups }
    let first = takeSequences(lookups.count * 2)
    request.removeAll()
    for (index, lookup) in lookups.enumerated() { lookup.append(to: &request, sequence: first + UInt32(index * 2)) }
    try socket.send(request)
    var missing = lookups.count * 2
    while missing > 0 {
      let isComplete = try receive("RTM_GETROUTE") { message in
        // Responses to an earlier, abandoned request have a lower number.
        guard message.sequence >= first, message.sequence - first < UInt32(lookups.count * 2) else { return }
        let answer: NetlinkRouteLookup.Answer
        switch NetlinkDecoder.content(of: message) {
        case .route(let route): answer = .route(route)
        case .ack(let ack): answer = .refused(ack)
        default: answer = .refused(NetlinkAck(errno: EPROTO, text: nil))
        }
        let index = Int(message.sequence - first)
        if index.isMultiple(of: 2) { lookups[index / 2].match = answer } else { lookups[index / 2].plain = answer }
        missing -= 1
      }
      guard isComplete else { throw KernelError("RTM_GETROUTE", errno: ENOBUFS) }
    }
    return lookups
  }
}
