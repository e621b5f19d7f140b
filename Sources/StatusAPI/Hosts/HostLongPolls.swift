internal import Locks
internal import NetworkReachability

/// Hosts that requests wait for: each target is watched once, however many wait for it, and as long as one does.
final class HostLongPolls: Sendable {
  private final class Watch: Sendable {
    let waiters = LongPollRegistry<Never>()
    /// The last verdict; nil as long as there is none to go by.
    let latest = Locked<HostVerdict?>(nil)
    let hasVerdict = Locked(false)
    /// Ends with the watch.
    let subscription = Locked<ReachabilityMonitor.Subscription?>(nil)
    let waiterCount = Locked(0)

    func update(_ verdict: HostVerdict) {
      let isFirst = hasVerdict.withLock { hasVerdict in
        defer { hasVerdict = true }
        return !hasVerdict
      }
      // Before the name's first answer all names whose way is missing look alike: whoever knows the addresses would be told
      // that nobody does, ask again, and be told them again.
      if isFirst, verdict.phase == .optimistic, verdict.path.status == .notReachable {
        Task { [weak self] in
          try? await Task.sleep(for: HostLongPolls.firstResolutionDelay)
          self?.accept(for: verdict)
        }
      } else {
        latest.withLock { $0 = verdict }
        waiters.notify()
      }
    }

    /// Goes by a first verdict that no other has followed.
    private func accept(for verdict: HostVerdict) {
      latest.withLock { $0 = $0 ?? verdict }
      waiters.notify()
    }
  }

  /// How long a name whose way is missing has for its first answer, which then comes from a file, before it is told as it is.
  private static let firstResolutionDelay = Duration.seconds(1)

  private let watches = Locked<[ReachabilityTarget: Watch]>([:])
  private let monitor: ReachabilityMonitor

  init(monitor: ReachabilityMonitor) { self.monitor = monitor }

  /// Has a request wait for news of a target.
  ///
  /// - Parameters:
  ///   - target: what to watch.
  ///   - attempt: given the verdict, answers if it is news; false to wait on.
  /// - Returns: what ends the wait; nil when too many targets are watched.
  func add(
    _ target: ReachabilityTarget, _ attempt: @escaping @Sendable (HostVerdict) -> Bool
  ) -> (@Sendable () -> Void)? {
    let watch = watches.withLock { watches in
      let watch = watches[target] ?? Watch()
      watches[target] = watch
      watch.waiterCount.withLock { $0 += 1 }
      return watch
    }
    guard subscribe(watch, target) else {
      remove(watch, target)
      return nil
    }
    let number = watch.waiters.add { _ in watch.latest.withLock(\.self).map(attempt) ?? false }
    return { [self] in
      watch.waiters.remove(number)
      remove(watch, target)
    }
  }

  /// Subscribes for the first visitor; false when too many targets are watched.
  private func subscribe(_ watch: Watch, _ target: ReachabilityTarget) -> Bool {
    watch.subscription.withLock { subscription in
      if subscription != nil { return true }
      // Not on the kernel's thread: it has more to do than to write answers.
      let elsewhere = DeliveryContext { work in Task.detached { work() } }
      subscription = monitor.listen(forClientOf: target, on: elsewhere) { [weak watch] update in
        if let verdict = update.host { watch?.update(verdict) }
      }
      return subscription != nil
    }
  }

  private func remove(_ watch: Watch, _ target: ReachabilityTarget) {
    let ended = watches.withLock { watches -> ReachabilityMonitor.Subscription? in
      let isEmpty = watch.waiterCount.withLock { waiterCount in
        waiterCount -= 1
        return waiterCount == 0
      }
      guard isEmpty, watches[target] === watch else { return nil }
      watches[target] = nil
      return watch.subscription.withLock(\.self)
    }
    // Outside the lock: it waits for a delivery that is under way.
    ended?.cancel()
  }
}
