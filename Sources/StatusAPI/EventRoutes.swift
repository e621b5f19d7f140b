internal import MicroHTTP
internal import NetworkReachability

/// `GET /events`: the stream of transitions, or the recent ones as an array.
enum EventRoutes {
  /// The most transitions that the array holds.
  static let recent = 1000
  /// Events that every stream carries, whatever `types` says.
  private static let always: Set<Substring> = ["snapshot", "gap", "bye"]

  static let events = Route(
    pattern: "/events", parameters: ["types", "lastEventId"], offers: [.eventStream, .json],
    summary: "every transition as Server-Sent Events, from the state as it is"
  ) { (exchange) throws(Problem) in
    let kinds = try kinds(exchange)
    // The header is what a browser sends by itself when it reconnects, so it is the fresher of the two.
    let known = exchange.request.headers["Last-Event-ID"] ?? exchange.query["lastEventId"]
    if exchange.media == .json {
      return .now(
        HTTPResponse(headers: StateHeaders.headers(.json), body: .bytes(array(exchange, after: known, kinds))))
    }
    let headers: HTTPHeaders = [
      "Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no",
    ]
    return .now(
      HTTPResponse(
        headers: SecurityHeaders.with(headers), body: .stream(stream(exchange.service.feed, after: known, kinds))))
  }

  private static func kinds(_ exchange: Exchange) throws(Problem) -> UInt64 {
    guard let types = exchange.query["types"] else { return .max }
    var mask: UInt64 = 0
    for type in types.split(separator: ",", omittingEmptySubsequences: false) where !always.contains(type) {
      guard let kind = EventFeed.Kind.allCases.first(where: { "\($0)" == type }) else {
        let known = EventFeed.Kind.allCases.map { "\($0)" }.joined(separator: ", ")
        throw Problem(.badRequest, "There are no events of type \(String(type).debugDescription); there are \(known).")
      }
      mask |= kind.mask
    }
    return mask
  }

  private static func stream(_ feed: EventFeed, after known: String?, _ kinds: UInt64) -> HTTPStream {
    let epoch = feed.epoch
    let heartbeat: @Sendable (UInt64) -> [UInt8] = { lastID in
      guard kinds != .max, lastID > 0 else { return SSEFrame.heartbeat }
      return SSEFrame.heartbeat + SSEFrame.position(EventID(epoch: epoch, sequence: lastID))
    }
    if let known, let cursor = feed.resume(after: known) {
      return HTTPStream(log: feed.log, preamble: SSEFrame.retry, cursor: cursor, kinds: kinds, heartbeat: heartbeat)
    }
    let gap = known.map { SSEFrame.event("gap", self.gap(feed, from: $0)) } ?? []
    let (snapshot, cursor) = feed.subscribe()
    return HTTPStream(
      log: feed.log, preamble: SSEFrame.retry + gap + snapshot, cursor: cursor, kinds: kinds, heartbeat: heartbeat)
  }

  private static func gap(_ feed: EventFeed, from known: String, _ before: [JSON.Member] = []) -> JSON {
    let oldest = JSON.text(feed.oldest?.description)
    return .object(before + [.init(name: "from", value: .string(known)), .init(name: "oldest", value: oldest)])
  }

  private static func array(_ exchange: Exchange, after known: String?, _ kinds: UInt64) -> [UInt8] {
    let feed = exchange.service.feed
    var items: [[UInt8]] = []
    var sequence: UInt64?
    if let known {
      if feed.resume(after: known) != nil, let id = EventID(known) {
        sequence = id.sequence
      } else {
        items.append(gap(feed, from: known, [.init(name: "type", value: "gap")]).bytes)
        // From the oldest on, as the gap says.
        sequence = 0
      }
    }
    // After an id it is the first ones, so that a client who asks again with the last id leaves nothing out.
    let entries =
      sequence.map { feed.log.entries(after: $0, kinds: kinds, newest: .max).prefix(recent) }
      ?? feed.log.entries(kinds: kinds, newest: recent)[...]
    items += entries.map { SSEFrame.data(of: $0.bytes) }
    return Array("[".utf8) + items.joined(separator: ",\n".utf8) + Array("]\n".utf8)
  }
}
