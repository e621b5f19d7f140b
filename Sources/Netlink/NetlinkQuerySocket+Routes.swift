internal import CNetlink
internal import Glibc
internal import ReachabilityModel

// Route lookups.
extension NetlinkQuerySocket {
  /// Looks up routes as connect(2) does.
  ///
  /// IPv4 looks up twice (`ip_route_connect` in include/net/route.h): once for the source address, and again with that
  /// source. Rules for this source then apply, another of several next hops may be selected, and the source must be an
  /// address of this machine. IPv6 looks up with a source only after a refusal without one, or if the socket has one.
  ///
  /// - Parameters:
  ///   - queries: any number of queries.
  ///   - rules: what policy rules match.
  /// - Returns: an answer for every query.
  /// - Throws: a ``KernelError`` when answers are missing; a refusal of a destination is an answer.
  func lookUp(
    _ queries: [RouteQuery], rules: NetlinkRuleSelectors
  ) throws(KernelError) -> [RouteQuery: RouteAnswer] {
    var answers = try lookUp(queries)
    var again: [RouteQuery: RouteQuery] = [:]
    for (query, answer) in answers {
      switch secondLookup(after: answer, to: query, rules) {
      case .none: break
      case .refused(let refusal): answers[query] = .refused(refusal)
      case .from(let source):
        var bound = query
        bound.source = source
        again[query] = bound
      }
    }
    if !again.isEmpty {
      let second = try lookUp(Array(Set(again.values)), sendsBoundSources: true)
      for (query, asked) in again {
        guard let first = answers[query], let answer = second[asked] else { continue }
        answers[query] = combined(first, answer, to: asked, rules)
      }
    }
    for (query, answer) in answers {
      if let other = try answerOfAnotherLeg(answer, to: query) { answers[query] = other }
    }
    return answers
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
          lookups.append(NetlinkRouteLookup(query: query, sendsBoundSource: sendsBoundSources))
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
}
