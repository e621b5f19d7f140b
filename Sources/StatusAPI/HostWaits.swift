internal import Locks
internal import NetworkReachability

/// Hosts that requests wait for: each target is watched once, however many wait for it, and as long as one does.
final class HostWaits: Sendable {
  private final class Watch: Sendable {
    let room = WaitingRoom<Never>()
    let latest = Locked<HostVerdict?>(nil)
    /// Ends with the watch.
    let subscription = Locked<Subscription?>(nil)
    let visitors = Locked(0)
  }

  private let watches = Locked<[Target: Watch]>([:])
  private let monitor: ReachabilityMonitor

  init(monitor: ReachabilityMonitor) { self.monitor = monitor }

  /// Has a request wait for news of a target.
  ///
  /// - Parameters:
  ///   - target: what to watch.
  ///   - attempt: given the verdict, answers if it is news; false to wait on.
  /// - Returns: what ends the wait; nil when too many targets are watched.
  func enter(
    _ target: Target, _ attempt: @escaping @Sendable (HostVerdict) -> Bool
  ) -> (@Sendable () -> Void)? {
    let watch = watches.withLock { watches in
      let watch = watches[target] ?? Watch()
      watches[target] = watch
      watch.visitors.withLock { $0 += 1 }
      return watch
    }
    guard begin(watch, target) else {
      leave(watch, target)
      return nil
    }
    let number = watch.room.enter { _ in watch.latest.withLock(\.self).map(attempt) ?? false }
    return { [self] in
      watch.room.leave(number)
      leave(watch, target)
    }
  }

  /// Subscribes for the first visitor; false when too many targets are watched.
  private func begin(_ watch: Watch, _ target: Target) -> Bool {
    watch.subscription.withLock { subscription in
      if subscription != nil { return true }
      // Not on the kernel's thread: it has more to do than to write answers.
      let elsewhere = DeliveryContext { work in Task.detached { work() } }
      subscription = monitor.listen(to: [], watching: [target], on: elsewhere) { [weak watch] update in
        guard let verdict = update.host, let watch else { return }
        watch.latest.withLock { $0 = verdict }
        watch.room.call()
      }
      return subscription != nil
    }
  }

  private func leave(_ watch: Watch, _ target: Target) {
    let ended = watches.withLock { watches -> Subscription? in
      let isEmpty = watch.visitors.withLock { visitors in
        visitors -= 1
        return visitors == 0
      }
      guard isEmpty, watches[target] === watch else { return nil }
      watches[target] = nil
      return watch.subscription.withLock(\.self)
    }
    // Outside the lock: it waits for a delivery that is under way.
    ended?.cancel()
  }
}
