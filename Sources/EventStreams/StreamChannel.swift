internal import EventLoop

/// A selection of one log that any number of streams share; its entries are gathered once for all of them.
///
/// Confined to the shard's thread.
@safe final class StreamChannel {
  struct Key: Hashable {
    let log: ObjectIdentifier
    let selection: EventLog.Selection
    /// The heartbeat of a stream's first feed; nil for the second feed, which sends none.
    let heartbeat: EventStreamResponse.Heartbeat?
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

  /// A heartbeat without a position, as a chunk, for a stream that has not reached the position of the channel.
  var plainHeartbeat: [UInt8] { ChunkedCoding.chunk(key.heartbeat?.bytes ?? []) }

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
  /// The numbers of the channels that select by no label: few, because their selections differ in the kinds only.
  private var general: [Int32] = []
  /// The others, each by one of the labels that it selects.
  private var byTopic = ChannelIndex()
  private var bySource = ChannelIndex()
  private var byGroup = ChannelIndex()
  var members = 0

  init(_ log: EventLog, poke: @escaping @Sendable () -> Void) {
    self.log = log
    // The observer is registered first: an entry appended from now on is either before the cursor or causes a wake-up.
    ticket = log.register(poke)
    cursor = log.end
  }

  func add(_ channel: Int32, _ selection: EventLog.Selection) {
    members += 1
    guard let (index, labels) = Self.index(selection) else { return general.append(channel) }
    self[keyPath: index].add(channel, labels)
  }

  func remove(_ channel: Int32, _ selection: EventLog.Selection) {
    members -= 1
    guard let (index, labels) = Self.index(selection) else { return general.removeAll { $0 == channel } }
    self[keyPath: index].remove(channel, labels)
  }

  /// The index of a selection's channel, and the labels by which it is there; nil for the general ones.
  private static func index(
    _ selection: EventLog.Selection
  ) -> (ReferenceWritableKeyPath<StreamSource, ChannelIndex>, [UInt64])? {
    if let topics = selection.topics, !topics.isEmpty { return (\.byTopic, topics) }
    if let sources = selection.sources, !sources.isEmpty { return (\.bySource, sources) }
    if let groups = selection.groups, !groups.isEmpty { return (\.byGroup, groups) }
    return nil
  }

  /// The channels that may select something in a batch, each once.
  func candidates(for batch: borrowing EventLogBatch) -> Set<Int32> {
    var found = Set(general)
    for mark in batch.marks {
      byTopic.collect(mark.labels.topic, into: &found)
      bySource.collect(mark.labels.source, into: &found)
      byGroup.collect(mark.labels.group, into: &found)
    }
    return found
  }

  /// No channel follows the log.
  func end() { log.unregister(ticket) }
}

/// The channels that select entries by one kind of label.
private struct ChannelIndex {
  private var channels: [UInt64: [Int32]] = [:]

  mutating func add(_ channel: Int32, _ labels: [UInt64]) {
    for label in labels { channels[label, default: []].append(channel) }
  }

  mutating func remove(_ channel: Int32, _ labels: [UInt64]) {
    for label in labels {
      channels[label]?.removeAll { $0 == channel }
      if channels[label]?.isEmpty == true { channels[label] = nil }
    }
  }

  /// Adds the channels that may select an entry with a label; an entry without one concerns all.
  func collect(_ label: UInt64, into found: inout Set<Int32>) {
    if label != 0 { return found.formUnion(channels[label] ?? []) }
    for selecting in channels.values { found.formUnion(selecting) }
  }
}
