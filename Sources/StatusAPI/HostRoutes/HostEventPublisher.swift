internal import Events
internal import EventStreams
internal import Locks
internal import NetworkReachability

/// The hosts that streams watch; each verdict is computed and encoded once for all streams.
///
/// The events have a log of their own, with a topic per host, so that simultaneous changes of thousands of hosts do not
/// displace the machine's history, from which clients resume.
final class HostEventPublisher: Sendable {
  static let hostsPerStreamLimit = 64
  /// The maximum number of watches of all streams together.
  static let watches = 10_000
  /// The size of the log in bytes: one event of every watched host; memory is used only as entries are written.
  static let logBytes = 8 * 1024 * 1024
  /// The kind of every entry, distinct from the kinds of the machine's events.
  static let kind: UInt8 = 63

  /// The watches of one stream, which end with this object.
  final class WatchLease: Sendable {
    /// The first frames of the stream: the verdict of each host that has one.
    let frames: [UInt8]
    /// The changes after these frames.
    let feed: EventStreamResponse.Feed
    private let onEnd: @Sendable () -> Void

    init(frames: [UInt8], feed: EventStreamResponse.Feed, onEnd: @escaping @Sendable () -> Void) {
      self.frames = frames
      self.feed = feed
      self.onEnd = onEnd
    }

    deinit { onEnd() }
  }

  private struct WatchedHost {
    let topic: UInt64
    var watches: Int
    var subscription: ReachabilityMonitor.Subscription?
    /// The last verdict and its transition; nil before the first.
    var latest: (verdict: HostVerdict, transition: Transition)?
  }

  private struct State {
    var hosts: [ReachabilityTarget: WatchedHost] = [:]
    var lastTopic: UInt64 = 0
    var watches = 0
  }

  let log = EventLog(byteCapacity: HostEventPublisher.logBytes, entryCapacity: 16_384)
  private let monitor: ReachabilityMonitor
  private let guarded = Locked(State())
  /// Held while a watch starts: a concurrent watch finds a host either with its subscription or not at all.
  private let startLock = Locked(())

  init(monitor: ReachabilityMonitor) { self.monitor = monitor }

  /// The names among some targets that no stream watches, so that their watch causes a lookup.
  func newNames(among targets: Set<ReachabilityTarget>) -> Int {
    guarded.withLock { state in
      targets.count { target in
        if case .name = target.remote {
          target.specialAddresses == .pending && state.hosts[target] == nil
        } else {
          false
        }
      }
    }
  }

  var watches: Int { guarded.withLock(\.watches) }

  private struct WatchStart {
    var added: [(target: ReachabilityTarget, topic: UInt64)] = []
    var topics: [UInt64] = []
    var frames: [UInt8] = []
    let cursor: EventLog.Cursor
  }

  /// Watches hosts for a client until the lease is released; nil above the limit for all streams together.
  func watch(_ targets: Set<ReachabilityTarget>, client: String) -> WatchLease? {
    startLock.withLock { _ in
      guard let start = reserve(targets) else { return nil }
      guard start.added.allSatisfy({ subscribe($0.target, topic: $0.topic, client) }) else {
        release(targets)
        return nil
      }
      let feed = EventStreamResponse.Feed(log: log, cursor: start.cursor, selection: .init(topics: start.topics))
      return WatchLease(frames: start.frames, feed: feed) { [weak self] in self?.release(targets) }
    }
  }

  /// Counts the watches of a stream; nil above the limit.
  private func reserve(_ targets: Set<ReachabilityTarget>) -> WatchStart? {
    guarded.withLock { state in
      guard state.watches + targets.count <= Self.watches else { return nil }
      state.watches += targets.count
      var start = WatchStart(cursor: log.end)
      for target in targets.sorted(by: { $0.description < $1.description }) {
        if state.hosts[target] == nil {
          state.lastTopic += 1
          state.hosts[target] = WatchedHost(topic: state.lastTopic, watches: 0)
          start.added.append((target, state.lastTopic))
        }
        state.hosts[target]?.watches += 1
        start.topics.append(state.hosts[target]?.topic ?? 0)
        if let latest = state.hosts[target]?.latest { start.frames += Self.initial(latest.verdict, latest.transition) }
      }
      return start
    }
  }

  /// Subscribes to a host, without the state lock, because the monitor may deliver the first verdict before this
  /// returns.
  private func subscribe(_ target: ReachabilityTarget, topic: UInt64, _ client: String) -> Bool {
    let inline = DeliveryContext { $0() }
    let subscription = monitor.listen(forClientOf: target, client: client, on: inline) { [weak self] update in
      guard case .host(_, let verdict)? = update.transition?.change, let transition = update.transition else { return }
      self?.publish(verdict, transition, of: target, topic: topic)
    }
    guard let subscription else { return false }
    guarded.withLock { $0.hosts[target]?.subscription = subscription }
    return true
  }

  /// Publishes a host's verdict to all streams that watch it, as one entry, if its representation has changed.
  ///
  /// - Parameters:
  ///   - verdict: the verdict.
  ///   - transition: the transition to it.
  ///   - target: the host.
  ///   - topic: the topic of the watch; a late verdict for an ended watch does not reach the next one.
  func publish(_ verdict: HostVerdict, _ transition: Transition, of target: ReachabilityTarget, topic: UInt64) {
    guarded.withLock { state in
      guard let watched = state.hosts[target], watched.topic == topic else { return }
      if let old = watched.latest?.verdict, HostRepresentation.hasSameRepresentation(old, verdict) { return }
      state.hosts[target]?.latest = (verdict, transition)
      let frame =
        watched.latest == nil
        ? Self.initial(verdict, transition)
        : SSEFrame.event("host", HostRepresentation.event(verdict, transition, initial: false))
      log.append(id: 0, kind: Self.kind, labels: .init(topic: topic), bytes: frame)
    }
  }

  /// Returns the first event of a host on a stream; it has no cause, because it does not report a change.
  private static func initial(_ verdict: HostVerdict, _ transition: Transition) -> [UInt8] {
    var transition = transition
    transition.causes = []
    return SSEFrame.event("host", HostRepresentation.event(verdict, transition, initial: true))
  }

  private func release(_ targets: Set<ReachabilityTarget>) {
    let ended = guarded.withLock { state in
      state.watches -= targets.count
      var ended: [ReachabilityMonitor.Subscription] = []
      for target in targets {
        state.hosts[target]?.watches -= 1
        guard let watched = state.hosts[target], watched.watches == 0 else { continue }
        if let subscription = watched.subscription { ended.append(subscription) }
        state.hosts[target] = nil
      }
      return ended
    }
    // Outside the lock, because a running listener may be waiting for it.
    for subscription in ended { subscription.cancel() }
  }
}
