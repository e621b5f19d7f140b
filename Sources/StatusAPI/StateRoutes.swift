internal import MicroHTTP
internal import NetworkReachability

/// `GET /status` and `GET /interfaces`: documents that are encoded already.
enum StateRoutes {
  static let status = Route(
    pattern: "/status", parameters: ["require", "wait"], offers: [.json, .text], stands: true,
    summary: "this machine's reachability now"
  ) { (exchange) throws(Problem) in
    let required = exchange.query["require"]
    guard required == nil || required == "reachable" else {
      throw Problem(.badRequest, "require=\((required ?? "").debugDescription) is not known; require=reachable is.")
    }
    let isText = exchange.media == .text
    return try reply(exchange, exchange.service.feed.statusRoom) { documents in
      Current(
        tag: documents.statusTag, body: isText ? documents.statusText : documents.status,
        isRefused: required != nil && !documents.snapshot.status.isReachable)
    }
  }

  static let interfaces = Route(
    pattern: "/interfaces", parameters: ["wait"], offers: [.json], stands: true,
    summary: "the kernel's interfaces with type, state and addresses"
  ) { (exchange) throws(Problem) in
    try reply(exchange, exchange.service.feed.interfacesRoom) {
      Current(tag: $0.interfacesTag, body: $0.interfaces, isRefused: false)
    }
  }

  /// A document as it is now, in one representation.
  private struct Current {
    var tag: String
    var body: SharedBody
    /// The client asked for 503 in this state.
    var isRefused: Bool

    /// The document, 304 when the client has it, or 503 with the document when it wants that.
    func response(_ tags: EntityTags, _ poll: LongPoll) -> HTTPResponse {
      var response = HTTPResponse(shared: body)
      if isRefused {
        response.status = 503
      } else if tags.hold(tag) {
        response = HTTPResponse(status: 304, headers: body.headers)
        response.headers["Content-Type"] = nil
      }
      return poll.marked(response)
    }
  }

  /// Answers at once, or, when the client has the state and wants to wait, when it is another.
  private static func reply(
    _ exchange: Exchange, _ room: WaitingRoom, _ current: @escaping @Sendable (EventFeed.Documents) -> Current
  ) throws(Problem) -> HTTPReply {
    let poll = try LongPoll(exchange)
    let tags = EntityTags(exchange.request)
    let feed = exchange.service.feed
    let known = current(feed.documents)
    guard let limit = poll.limit, tags.hold(known.tag) else { return .now(known.response(tags, poll)) }
    let wait = HTTPWait(limit: limit) {
      current(feed.documents).response(tags, poll)
    } begin: { promise in
      let number = room.enter {
        let news = current(feed.documents)
        guard news.tag != known.tag else { return false }
        promise.fulfil(news.response(tags, poll))
        return true
      }
      return { room.leave(number) }
    }
    return .wait(wait)
  }
}
