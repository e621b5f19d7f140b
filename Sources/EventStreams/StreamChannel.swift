internal import EventLoop

/// A selection of one log that any number of streams share; its entries are gathered once for all of them.
///
/// Confined to the shard's thread.
@safe final class StreamChannel {
  struct Key: Hashable {
    let log: ObjectIdentifier
    let selection: EventLog.Selection
    /// The heartbeat of a stream's first feed; nil for the second feed, which sends none.
    let heartbeat: HTTPStream.Heartbeat?
  }

  let key: Key
  let source: StreamSource
  /// The ticks without traffic after which a heartbeat is due.
  let interval: UInt32
  var members = 0
  /// The entries for the followers, if they are not the whole batch.
  private(set) var gathered = EventLogBatch(fill: 0)
  private var encodedHeartbeat: (id: UInt64, bytes: [UInt8])?

  init(_ key: Key, _ source: StreamSource) {
    self.key = key
    self.source = source
    let ticks = ((key.heartbeat?.interval ?? .zero).nanoseconds + StreamSlots.tick - 1) / StreamSlots.tick
    interval = UInt32(clamping: max(1, ticks))
  }

  var selection: EventLog.Selection { key.selection }

  /// The current heartbeat as a chunk, made once for each position.
  var heartbeat: [UInt8] {
    let id = source.cursor.lastID
    if let encodedHeartbeat, encodedHeartbeat.id == id { return encodedHeartbeat.bytes }
    let bytes = ChunkedCoding.chunk(key.heartbeat?.bytes(lastID: id) ?? [])
    encodedHeartbeat = (id, bytes)
    return bytes
  }

  /// Releases the gathered entries: there may be one filter per stream, and an idle channel must use little memory.
  func releaseBuffer() {
    if !gathered.isEmpty { gathered = EventLogBatch(fill: 0) }
  }

  /// Gathers the selected part of a batch: nil if it is empty, the batch's own bytes if it is everything.
  func choose(from batch: borrowing EventLogBatch) -> UnsafeRawBufferPointer? {
    gathered.clear()
    let wanted = batch.marks.lazy.filter { [selection] in selection.wants(kind: $0.kind, $0.labels) }
    let count = wanted.count
    guard count > 0 else { return nil }
    if count == batch.marks.count { return unsafe batch.bytes }
    for mark in batch.marks where selection.wants(kind: mark.kind, mark.labels) {
      let place = unsafe gathered.add(
        .init(
          index: mark.index, id: mark.id, kind: mark.kind, mark.labels, start: gathered.count, mark.length))
      unsafe place.copyBytes(from: batch.bytes[mark.start..<mark.start + mark.length])
    }
    return unsafe gathered.bytes
  }
}

/// A log that a shard follows for its streams.
final class StreamSource {
  let log: EventLog
  /// The position up to which the shard has distributed the log; every stream that is not behind is at this position.
  var cursor: EventLog.Cursor
  private let ticket: UInt64
  /// The numbers of the channels that follow the log; channels that select no topics are few, and are kept apart.
  var general: [Int32] = []
  var byTopic: [UInt64: [Int32]] = [:]
  var members = 0

  init(_ log: EventLog, poke: @escaping @Sendable () -> Void) {
    self.log = log
    // The observer is registered first: an entry appended from now on is either before the cursor or causes a wake-up.
    ticket = log.register(poke)
    cursor = log.end
  }

  func add(_ channel: Int32, _ selection: EventLog.Selection) {
    members += 1
    guard let topics = selection.topics, !topics.isEmpty else { return general.append(channel) }
    for topic in topics { byTopic[topic, default: []].append(channel) }
  }

  func remove(_ channel: Int32, _ selection: EventLog.Selection) {
    members -= 1
    guard let topics = selection.topics, !topics.isEmpty else { return general.removeAll { $0 == channel } }
    for topic in topics {
      byTopic[topic]?.removeAll { $0 == channel }
      if byTopic[topic]?.isEmpty == true { byTopic[topic] = nil }
    }
  }

  /// The channels that may select something in a batch, each once.
  func candidates(for batch: borrowing EventLogBatch) -> Set<Int32> {
    var found = Set(general)
    for mark in batch.marks {
      // An entry without a topic concerns every channel.
      if mark.labels.topic == 0 {
        for channels in byTopic.values { found.formUnion(channels) }
      } else if let channels = byTopic[mark.labels.topic] {
        found.formUnion(channels)
      }
    }
    return found
  }

  /// No channel follows the log.
  func end() { log.unregister(ticket) }
}
