internal import Glibc
internal import ReachabilityModel

// Route lookups.
extension QuerySocket {
  /// Looks up routes as connect(2) does.
  ///
  /// IPv4 looks up twice (`ip_route_connect` in include/net/route.h): once for the source address, and again with that
  /// source. Rules for this source then apply, and another of several next hops may be selected. IPv6 looks up with a
  /// source only after a refusal without one.
  ///
  /// - Parameters:
  ///   - queries: any number of queries.
  ///   - bySource: whether IPv4 rules for source addresses exist.
  /// - Returns: an answer for every query.
  /// - Throws: a ``KernelError`` when answers are missing; a refusal of a destination is an answer.
  func lookUp(_ queries: [RouteQuery], bySource: Bool) throws(KernelError) -> [RouteQuery: RouteAnswer] {
    var answers = try lookUp(queries)
    var again: [RouteQuery: RouteQuery] = [:]
    for (query, answer) in answers where query.source == nil {
      guard let source = source(of: answer, to: query, bySource) else { continue }
      again[query] = RouteQuery(query.destination, source: source, interfaceIndex: query.interfaceIndex)
    }
    guard !again.isEmpty else { return answers }
    let second = try lookUp(Array(Set(again.values)))
    for (query, asked) in again {
      if case .refused(.failed) = second[asked] { continue }
      answers[query] = second[asked]
    }
    return answers
  }

  /// The source for the kernel's second lookup; nil when the first answer is final.
  private func source(of answer: RouteAnswer, to query: RouteQuery, _ bySource: Bool) -> IPAddress? {
    switch (query.destination.family, answer) {
    case (.ipv4, .route(let route)): bySource || route.selectsByDestination ? route.source : nil
    // A query that is bound to an interface is sent without a source.
    case (.ipv6, .refused(let refusal)) where query.interfaceIndex == nil:
      if case .failed = refusal { nil } else { sources?.source(towards: query.destination) }
    default: nil
    }
  }

  /// Looks up routes once, 64 requests at a time.
  func lookUp(_ queries: [RouteQuery]) throws(KernelError) -> [RouteQuery: RouteAnswer] {
    var answers: [RouteQuery: RouteAnswer] = [:]
    guard !queries.isEmpty else { return answers }
    answers.reserveCapacity(queries.count)
    var rest = queries[...]
    while !rest.isEmpty {
      let part = rest.prefix(Limits.requestsPerSend / 2)
      rest = rest.dropFirst(part.count)
      var lookups: [RouteLookup] = []
      lookups.reserveCapacity(part.count)
      for query in part {
        if let source = query.source, source.family != query.destination.family {
          answers[query] = .refused(.failed(errno: EAFNOSUPPORT))
        } else {
          lookups.append(RouteLookup(query: query))
        }
      }
      try sendBatch(&lookups)
      for lookup in lookups { answers[lookup.query] = lookup.answer }
    }
    return answers
  }

  private func sendBatch(_ lookups: inout [RouteLookup]) throws(KernelError) {
    guard !lookups.isEmpty else { return }
    let first = takeSequences(lookups.count * 2)
    request.removeAll()
    for (index, lookup) in lookups.enumerated() { lookup.append(to: &request, sequence: first + UInt32(index * 2)) }
    try socket.send(request)
    var missing = lookups.count * 2
    while missing > 0 {
      let isComplete = try receive("RTM_GETROUTE") { message in
        // Responses to an earlier, abandoned request have a lower number.
        guard message.sequence >= first, message.sequence - first < UInt32(lookups.count * 2) else { return }
        let answer: RouteLookup.Answer
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
  }
}
