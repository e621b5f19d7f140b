internal import EmbeddedHTTPServer
internal import EventStreams
internal import JSONFormat

extension EventRoutes {
  /// Returns the array of the recent events, or of those after one.
  static func array(_ context: RequestContext, after known: String?, _ selection: EventLog.Selection)
    -> HTTPResponse
  {
    let feed = context.service.events
    let selection = feed.withoutInitialEntry(selection)
    var items: [[UInt8]] = []
    let entries: [EventLog.Entry]
    var headers = RepresentationHeaders.headers(.json)
    // Read this before the entries, so that no event is skipped: events outside the selection have no entry with an id.
    let last = feed.lastEvent
    if let known {
      // The oldest ones, so that a client that continues with the last id skips nothing; after a gap, from the oldest
      // event on, as the gap states.
      let id = feed.sequence(of: known)
      let found = feed.log.entries(after: id ?? .max, selection, first: arrayLimit)
      entries = found.entries
      if !found.isWhole { items.append(gap(feed, from: known, [.init(name: "type", value: "gap")]).bytes) }
    } else {
      entries = feed.log.entries(selection, newest: arrayLimit)
    }
    items += entries.map { SSEFrame.data(of: $0.bytes) }
    let end = entries.count < arrayLimit ? max(last.sequence, entries.last?.id ?? 0) : entries.last?.id ?? 0
    headers["Last-Event-ID"] = EventID(epoch: feed.epoch, sequence: end).description
    return HTTPResponse(
      headers: headers, body: .bytes(Array("[".utf8) + items.joined(separator: ",\n".utf8) + Array("]\n".utf8)))
  }
}
