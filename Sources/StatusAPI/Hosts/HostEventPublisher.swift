internal import EventStreams
internal import Locks
internal import EmbeddedHTTPServer
internal import NetworkReachability

/// The hosts that streams watch: each is judged and encoded once, however many streams want it.
///
/// Their events have a log of their own, with a topic a host, so that thousands of hosts that change at once do not push the
/// machine's history out of the log that resuming clients read.
final class HostEventPublisher: Sendable {
  /// Hosts that one stream may watch.
  static let hostsPerStreamLimit = 64
  /// Watches of all streams together.
  static let watches = 10_000
  /// Bytes of the log: an event of every host that may be watched, and memory only for what was ever in it.
  static let logBytes = 8 * 1024 * 1024
  /// The kind of every entry: that of the machine's events it is none of.
  static let kind: UInt8 = 63

  /// One stream's watches, until it is let go of.
  final class WatchLease: Sendable {
    /// The frames a stream begins with: each host's verdict, as far as there is one.
    let frames: [UInt8]
    /// The changes after them.
    let feed: HTTPStream.Feed
    private let onEnd: @Sendable () -> Void

    init(frames: [UInt8], feed: HTTPStream.Feed, onEnd: @escaping @Sendable () -> Void) {
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
    /// The last verdict and what told it; nil before the first.
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
  /// Held while somebody begins to watch: who comes next finds hosts that are followed, or none.
  private let startLock = Locked(())

  init(monitor: ReachabilityMonitor) { self.monitor = monitor }

  /// Watches for all streams now.
  var watches: Int { guarded.withLock(\.watches) }

  /// What is known when a watch begins.
  private struct WatchStart {
    var added: [(target: ReachabilityTarget, topic: UInt64)] = []
    var topics: [UInt64] = []
    var frames: [UInt8] = []
    let cursor: EventLog.Cursor
  }

  /// Watches hosts, each once, until the ticket goes; nil when that would be too many for all streams together.
  func watch(_ targets: Set<ReachabilityTarget>) -> WatchLease? {
    startLock.withLock { _ in
      guard let start = reserve(targets) else { return nil }
      guard start.added.allSatisfy({ subscribe($0.target, topic: $0.topic) }) else {
        release(targets)
        return nil
      }
      let feed = HTTPStream.Feed(log: log, cursor: start.cursor, selection: .init(topics: start.topics))
      return WatchLease(frames: start.frames, feed: feed) { [weak self] in self?.release(targets) }
    }
  }

  /// Counts one more who watches; nil when there are too many.
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

  /// Has the monitor tell of a host; not under the lock of what it tells, because the first verdict may come before this
  /// returns.
  private func subscribe(_ target: ReachabilityTarget, topic: UInt64) -> Bool {
    let inline = DeliveryContext { $0() }
    let subscription = monitor.listen(forClientOf: target, on: inline) { [weak self] update in
      guard case .host(_, let verdict)? = update.transition?.change, let transition = update.transition else { return }
      self?.publish(verdict, transition, of: target, topic: topic)
    }
    guard let subscription else { return false }
    guarded.withLock { $0.hosts[target]?.subscription = subscription }
    return true
  }

  /// A host has a verdict: everybody who watches it is told, by one entry, if it is another than they know.
  ///
  /// - Parameters:
  ///   - verdict: the verdict.
  ///   - transition: what told it.
  ///   - target: the host.
  ///   - topic: the watch that it is told to; what comes late for one that has ended is not for the next.
  func publish(_ verdict: HostVerdict, _ transition: Transition, of target: ReachabilityTarget, topic: UInt64) {
    guarded.withLock { state in
      guard let watched = state.hosts[target], watched.topic == topic else { return }
      if let old = watched.latest?.verdict, HostRepresentation.hasSameRepresentation(old, verdict) { return }
      state.hosts[target]?.latest = (verdict, transition)
      let frame =
        watched.latest == nil
        ? Self.initial(verdict, transition)
        : SSEFrame.event("host", EventRepresentation.host(verdict, transition, initial: false))
      log.append(id: 0, kind: Self.kind, topic: topic, bytes: frame)
    }
  }

  /// The event that begins a stream's knowledge of a host: what was the case then had no cause for this reader.
  private static func initial(_ verdict: HostVerdict, _ transition: Transition) -> [UInt8] {
    var transition = transition
    transition.causes = []
    return SSEFrame.event("host", EventRepresentation.host(verdict, transition, initial: true))
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
    // Outside the lock, which a call of the listener that is under way wants.
    for subscription in ended { subscription.cancel() }
  }
}
