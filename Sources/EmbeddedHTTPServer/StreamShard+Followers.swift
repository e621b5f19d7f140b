internal import CMicroHTTPD
internal import Glibc

/// Who follows what: joining and leaving.
extension StreamShard {
  /// Takes a stream over from the server's thread.
  func adopt(_ handoff: StreamHandoff) {
    let stream = handoff.stream
    let first = follow(stream.feeds[0], stream.heartbeat)
    let second = stream.feeds.count > 1 ? follow(stream.feeds[1], nil) : 0
    let number = slots.insert(handoff.descriptor, first: first, second: second, lastWrite: tick)
    let kept: [any AnyObject & Sendable] = [stream.attachment, stream.abandonment, handoff.slotAddress].compactMap(
      \.self)
    if !kept.isEmpty { attachments[number] = kept }
    guard watch(number) else { return drop(number) }
    slots.plan(number, tick + interval(number))
    let lag = stream.feeds.reduce(0) { $0 + ($1.log.lag(of: $1.cursor) ?? 0) }
    backlogs[number] = Backlog(
      cursors: stream.feeds.map(\.cursor), outbox: handoff.unsent, lagLimit: lagLimit + lag, lastTaken: now)
    slots[number].isBehind = true
    catchUp(number)
  }

  /// Closes what came too late to be served.
  func refuse(_ handoff: StreamHandoff) {
    close(handoff.descriptor)
    counters.streams.decrement()
    counters.connections.decrement()
  }

  private func follow(_ feed: HTTPStream.Feed, _ heartbeat: HTTPStream.Heartbeat?) -> Int32 {
    let key = StreamChannel.Key(log: ObjectIdentifier(feed.log), selection: feed.selection, heartbeat: heartbeat)
    if let number = channelNumbers[key] {
      channels[Int(number)]?.members += 1
      return number
    }
    let source = sources[key.log] ?? StreamSource(feed.log) { [inbox] in inbox.poke() }
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
    channelNumbers[key] = number
    source.add(number, feed.selection)
    return number
  }

  private func unfollow(_ number: Int32) {
    guard number > 0, let channel = channels[Int(number)] else { return }
    channel.members -= 1
    guard channel.members == 0 else { return }
    channels[Int(number)] = nil
    channelNumbers[channel.key] = nil
    channel.source.remove(number, channel.selection)
    guard channel.source.members == 0 else { return }
    channel.source.end()
    sources[channel.key.log] = nil
  }

  /// The feeds of a stream: its channels and their sources.
  func feeds(_ number: Int32) -> [StreamChannel] {
    [slots[number].first, slots[number].second].compactMap { channels[Int($0)] }
  }

  func interval(_ number: Int32) -> UInt32 {
    channels[Int(slots[number].first)]?.interval ?? StreamSlots.span
  }

  /// Closes a stream's socket and forgets it.
  func drop(_ number: Int32) {
    let slot = slots[number]
    // The kernel forgets its epoll registration with it; the server's own copy of the socket is closed by then, or soon,
    // and until then the generation tells late events apart.
    close(slot.descriptor)
    slots.remove(number)
    backlogs[number] = nil
    unfollow(slot.first)
    unfollow(slot.second)
    counters.streams.decrement()
    counters.connections.decrement()
    attachments[number] = nil
    if closeEvent != nil, slots.count == 0 { onIdle() }
  }

  /// Closes a stream that has got everything, so that its client sees a proper end.
  func finish(_ number: Int32) {
    // Closing over unread bytes would reset the connection, and the reset destroy what was sent last.
    discard(slots[number].descriptor)
    shutdown(slots[number].descriptor, Int32(SHUT_WR))
    drop(number)
  }

  /// Cuts a reader that was too slow.
  func dropLagging(_ number: Int32) {
    counters.streamsLagged.increment()
    drop(number)
  }
}
