internal import Events
internal import History
internal import EventStreams
internal import HTTPRouting
internal import ReachabilityChecks

/// `GET /events`: the stream of transitions, or an array of the recent ones.
package enum EventRoutes {
  static let arrayLimit = 1000

  static let events = NodeRoute(
    pattern: "/events", parameters: ["types", "lastEventId", "since", "host", "target"],
    repeatable: ["host", "target"],
    mediaTypes: [.eventStream, .json],
    summary: "every transition as Server-Sent Events, starting with the current state"
  ) { (context) throws(Problem) in
    let selection = try selection(context)
    let known = context.routed.lastEventID
    let hosts = try hosts(context)
    guard context.media != .json || hosts.isEmpty else {
      throw Problem(.badRequest, "host requires Accept: text/event-stream, because no history of hosts is stored")
    }
    if known == nil, context.query["since"] != nil { return try replay(context, selection, hosts) }
    if context.media == .json {
      return context.routed.queued { () throws(Problem) in
        .later { promise in array(context, after: known, selection, promise) }
      }
    }
    let feed = context.service.events
    guard feed.awaitsFirstReading else { return .now(try response(context, after: known, selection, hosts)) }
    return feed.afterFirstReading {
      do throws(Problem) {
        return try response(context, after: known, selection, hosts)
      } catch {
        return context.answer(error)
      }
    }
  }

  /// Returns the stream after an event.
  private static func response(
    _ context: RequestContext, after known: String?, _ selection: EventLog.Selection, _ hosts: Set<ReachabilityTarget>
  ) throws(Problem) -> HTTPResponse {
    let feed = context.service.events
    // First the machine, then the hosts: changes in between arrive through the log.
    var stream = stream(feed, after: known, selection, client: context.client)
    if !hosts.isEmpty { try watch(hosts, context, &stream) }
    return HTTPResponse(headers: RepresentationHeaders.ofEventStream, body: .stream(stream))
  }

  /// Returns the stream or the array from the first event at or after a time, whose number the store must look up.
  private static func replay(
    _ context: RequestContext, _ selection: EventLog.Selection, _ hosts: Set<ReachabilityTarget>
  ) throws(Problem) -> HTTPReply {
    let history = try context.history()
    let now = Timestamp(microseconds: history.time.wall)
    let since = try HistoryTimeParameter.moment("since", context, now: now)?.microseconds ?? now.microseconds
    let feed = context.service.events
    return context.reply(history, { (reader) throws(StoreQueryError) in try reader.firstEvent(at: since) }) {
      (first: UInt64?, promise: HTTPPromise) in
      let known = (first.map { EventID(epoch: feed.epoch, sequence: $0 &- 1) } ?? feed.lastEvent).description
      do throws(Problem) {
        guard context.media != .json else {
          return array(context, after: known, selection, promise)
        }
        promise.fulfil(try response(context, after: known, selection, hosts))
      } catch {
        promise.fulfil(context.answer(error))
      }
    }
  }

  /// Returns the requested hosts without duplicates.
  private static func hosts(_ context: RequestContext) throws(Problem) -> Set<ReachabilityTarget> {
    var targets: Set<ReachabilityTarget> = []
    for item in context.request.query where item.name == "host" {
      do throws(TargetError) {
        targets.insert(try ReachabilityTarget(host: item.value))
      } catch {
        throw Problem(.badHost, "\(error.problem); \(error.hint)")
      }
    }
    guard targets.count <= HostEventPublisher.hostsPerStreamLimit else {
      throw Problem(
        .badRequest,
        "a stream watches at most \(HostEventPublisher.hostsPerStreamLimit) hosts, got \(targets.count); open several streams"
      )
    }
    return targets
  }

  private static func watch(
    _ targets: Set<ReachabilityTarget>, _ context: RequestContext, _ stream: inout EventStreamResponse
  ) throws(Problem) {
    let names = targets.compactMap { if case .name(let name) = $0.remote { name } else { nil } }
    guard let quota = context.service.hostNames.watch(Set(names), client: context.client) else {
      throw Problem(
        .rateLimited,
        "a client watches at most \(HostNameQuota.watchesOfClient) names, and all together \(HostNameQuota.watches); "
          + "retry when other streams are closed",
        headers: ["Retry-After": "10"])
    }
    try context.countNames(context.service.hostEvents.newNames(among: targets), hint: "")
    guard let lease = context.service.hostEvents.watch(targets, client: context.client) else {
      throw Problem(
        .rateLimited,
        "all streams together watch at most \(HostEventPublisher.watches) hosts; retry when other streams are closed",
        headers: ["Retry-After": "10"])
    }
    stream.preamble += lease.frames
    stream.feeds.append(lease.feed)
    stream.attachment = StreamWatches(hosts: lease, names: quota)
  }

  /// What a stream watches, until it ends.
  private final class StreamWatches: Sendable {
    private let hosts: HostEventPublisher.WatchLease
    private let names: HostNameQuota.Lease

    init(hosts: HostEventPublisher.WatchLease, names: HostNameQuota.Lease) { (self.hosts, self.names) = (hosts, names) }
  }

  private static func stream(
    _ feed: ServiceEvents, after known: String?, _ selection: EventLog.Selection, client: String
  ) -> EventStreamResponse {
    let heartbeat = selection == EventLog.Selection() ? feed.heartbeat : feed.positionHeartbeat
    // Without news no frame follows. The comment shows clients and proxies that the stream is open.
    let opening = SSEFrame.comment + SSEFrame.retry
    let history = feed.history
    let selectionOfEvents = history.withoutInitialEntry(selection)
    func response(
      _ cursor: EventLog.Cursor, _ selection: EventLog.Selection, _ preamble: [UInt8], _ replay: EventReplay? = nil
    ) -> EventStreamResponse {
      let feed = EventStreamResponse.Feed(log: history.log, cursor: cursor, selection: selection)
      return EventStreamResponse(feeds: [feed], preamble: preamble, history: replay, heartbeat: heartbeat)
    }
    if let known, let cursor = history.resume(after: known) { return response(cursor, selectionOfEvents, opening) }
    if let known, let replay = EventReplay(feed.publisher, after: known, selectionOfEvents, client: client) {
      return response(history.log.end, selectionOfEvents, opening, replay)
    }
    let gap = known.map { SSEFrame.event("gap", history.gap(from: $0)) } ?? []
    let (snapshot, cursor) = feed.publisher.subscribe()
    return response(cursor, selection, SSEFrame.retry + gap + snapshot)
  }
}
