/// The channels of one shard by number, and the logs that they select from.
///
/// Confined to the shard's thread.
@safe final class StreamChannels {
  /// Channels by number; number 0 is no channel.
  private var channels: [StreamChannel?] = [nil]
  private var numbers: [StreamChannel.Key: Int32] = [:]
  private var sources: [ObjectIdentifier: StreamSource] = [:]
  /// The bytes to send to each channel's followers; filled and emptied within one pass.
  var outgoing: [UnsafeRawBufferPointer] = unsafe [UnsafeRawBufferPointer(start: nil, count: 0)]
  private let wake: @Sendable () -> Void

  /// Makes an empty table; `wake` is called when a log has new entries.
  init(wake: @escaping @Sendable () -> Void) { self.wake = wake }

  subscript(number: Int32) -> StreamChannel? { channels[Int(number)] }

  /// The logs that channels select from.
  var allSources: [StreamSource] { Array(sources.values) }

  /// Adds a follower to the channel for a feed, and returns the channel's number.
  func follow(_ feed: EventStreamResponse.Feed, _ heartbeat: EventStreamResponse.Heartbeat?) -> Int32 {
    let key = StreamChannel.Key(log: ObjectIdentifier(feed.log), selection: feed.selection, heartbeat: heartbeat)
    if let number = numbers[key] {
      channels[Int(number)]?.members += 1
      return number
    }
    let source = sources[key.log] ?? StreamSource(feed.log, poke: wake)
    sources[key.log] = source
    let channel = StreamChannel(key, source)
    channel.members = 1
    let number: Int32
    if let free = channels.indices.dropFirst().first(where: { channels[$0] == nil }) {
      channels[free] = channel
      number = Int32(free)
    } else {
      number = Int32(channels.count)
      channels.append(channel)
      unsafe outgoing.append(UnsafeRawBufferPointer(start: nil, count: 0))
    }
    numbers[key] = number
    source.add(number, feed.selection)
    return number
  }

  /// Removes a follower of a channel; the channel ends with the last one.
  func unfollow(_ number: Int32) {
    guard number > 0, let channel = channels[Int(number)] else { return }
    channel.members -= 1
    guard channel.members == 0 else { return }
    channels[Int(number)] = nil
    numbers[channel.key] = nil
    channel.source.remove(number, channel.selection)
    guard channel.source.members == 0 else { return }
    channel.source.end()
    sources[channel.key.log] = nil
  }
}
