internal import Events
internal import EventStreams
internal import HTTPRouting
internal import History
internal import JSONFormat

extension EventRoutes {
  /// Makes the array of the newest events in memory, or of those after one, which the store may have.
  static func array(
    _ context: RequestContext, after known: String?, _ selection: EventLog.Selection, _ promise: HTTPPromise
  ) {
    let feed = context.service.events.publisher
    let selection = feed.history.withoutInitialEntry(selection)
    var array = EventArray(feed, selection)
    guard let known else {
      array.addNewest()
      return promise.fulfil(array.response)
    }
    guard let replay = EventReplay(feed, after: known, selection, client: context.client) else {
      array.add(after: known)
      return promise.fulfil(array.response)
    }
    promise.onAbandonment { [weak replay] in replay?.cancel() }
    array.read(replay, after: known) { result in
      switch result {
      case .success(let array): promise.fulfil(array.response)
      case .failure(let error): promise.fulfil(context.answer(context.problem(error)))
      }
    }
  }
}

/// The array of events of a response, and the id from which its client continues.
private struct EventArray: Sendable {
  /// The bytes from which no event is added, because the store has events of any size: as many as memory holds by default.
  private static let byteLimit = EventHistory.defaultBytes

  private let history: EventHistory
  private let selection: EventLog.Selection
  /// The last event when the array was begun; those outside the selection have no entry with an id.
  private let newest: UInt64
  private var items: [[UInt8]] = []
  private var events = 0
  private var bytes = 0
  /// The array has every selected event up to this number.
  private var end: UInt64 = 0

  init(_ feed: EventPublisher, _ selection: EventLog.Selection) {
    history = feed.history
    self.selection = selection
    newest = feed.lastEvent.sequence
  }

  private var isFull: Bool { events >= EventRoutes.arrayLimit || bytes >= Self.byteLimit }

  var response: HTTPResponse {
    var headers = RepresentationHeaders.headers(.json)
    headers["Last-Event-ID"] = EventID(epoch: history.epoch, sequence: end).description
    return HTTPResponse(
      headers: headers, body: .bytes(Array("[".utf8) + items.joined(separator: ",\n".utf8) + Array("]\n".utf8)))
  }

  /// Adds entries until the array is full; `last` is the number up to which they are complete.
  private mutating func add(_ entries: [EventLog.Entry], through last: UInt64) {
    for entry in entries {
      guard !isFull else { return }
      items.append(entry.data.isEmpty ? JSON.null.bytes : Array(entry.bytes[entry.data]))
      events += 1
      bytes += entry.bytes.count
      end = entry.id
    }
    end = max(end, last)
  }

  /// Adds entries of the log, of which there are fewer than `limit` only if there are no more.
  private mutating func add(_ entries: [EventLog.Entry], limit: Int) {
    add(entries, through: entries.count < limit ? newest : 0)
  }

  /// Adds the newest events in memory.
  mutating func addNewest() {
    add(history.log.entries(selection, newest: EventRoutes.arrayLimit), limit: EventRoutes.arrayLimit)
  }

  /// Adds the events in memory after an id: the oldest ones, so that a client that continues with the last id skips
  /// nothing; after a gap, from the oldest event on, as the gap states.
  mutating func add(after known: String) {
    let limit = EventRoutes.arrayLimit
    let found = history.log.entries(after: history.sequence(of: known) ?? .max, selection, first: limit)
    if !found.isWhole {
      items.append(history.gap(from: known, [.init(name: "type", value: "gap")]).bytes)
    }
    add(found.entries, limit: limit)
  }

  /// Adds the events after an id from the store, and then those that the log has after them.
  func read(
    _ replay: EventReplay, after known: String,
    _ completion: @escaping @Sendable (Result<EventArray, StoreError>) -> Void
  ) {
    replay.next { part in
      var array = self
      switch part {
      case .events(let entries, let last, let cursor):
        array.add(entries, through: last)
        if !array.isFull, cursor == nil { return array.read(replay, after: known, completion) }
        array.addRest()
        completion(.success(array))
      case .missing:
        // What was found is complete; the gap is the beginning of the next array.
        if array.items.isEmpty { array.add(after: known) }
        completion(.success(array))
      case .failed(let error, _): completion(.failure(error))
      }
    }
  }

  /// Adds the events in memory after the stored ones, unless the log has lost some of them meanwhile.
  private mutating func addRest() {
    let limit = EventRoutes.arrayLimit - events
    guard !isFull else { return }
    let found = history.log.entries(after: end, selection, first: limit)
    if found.isWhole { add(found.entries, limit: limit) }
  }
}
