internal import HTTPRouting
internal import Locks
internal import NetworkReachability

/// Hosts that requests wait for; each target is watched once, while at least one request waits for it.
final class HostLongPolls: Sendable {
  private final class Watch: Sendable {
    let waiters = LongPollRegistry<Never>()
    /// The last verdict; nil while there is none to use.
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
      // Before the first resolution, an unreachable verdict has no addresses. A client that has the addresses would
      // receive it as a change, wait again, and receive the addresses as a change.
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

    /// Uses the first verdict if no other has followed.
    private func accept(for verdict: HostVerdict) {
      latest.withLock { $0 = $0 ?? verdict }
      waiters.notify()
    }
  }

  /// How long the first resolution of a name may take, as from a file, before an unreachable verdict is used.
  private static let firstResolutionDelay = Duration.seconds(1)

  private let watches = Locked<[ReachabilityTarget: Watch]>([:])
  private let monitor: ReachabilityMonitor

  init(monitor: ReachabilityMonitor) { self.monitor = monitor }

  /// Whether requests wait for a change of a target.
  func isWatched(_ target: ReachabilityTarget) -> Bool { watches.withLock { $0[target] != nil } }

  /// Adds a request that waits for a change of a target.
  ///
  /// - Parameters:
  ///   - target: the target to watch.
  ///   - client: the client of the request.
  ///   - attempt: receives the verdict and responds if it is a change; returns false to continue waiting.
  /// - Returns: a function that ends the wait; nil when too many targets are watched.
  func add(
    _ target: ReachabilityTarget, client: String, _ attempt: @escaping @Sendable (HostVerdict) -> Bool
  ) -> (@Sendable () -> Void)? {
    let watch = watches.withLock { watches in
      let watch = watches[target] ?? Watch()
      watches[target] = watch
      watch.waiterCount.withLock { $0 += 1 }
      return watch
    }
    guard subscribe(watch, target, client) else {
      remove(watch, target)
      return nil
    }
    let number = watch.waiters.add { _ in watch.latest.withLock(\.self).map(attempt) ?? false }
    return { [self] in
      watch.waiters.remove(number)
      remove(watch, target)
    }
  }

  /// Subscribes for the first waiting request; false when too many targets are watched.
  private func subscribe(_ watch: Watch, _ target: ReachabilityTarget, _ client: String) -> Bool {
    watch.subscription.withLock { subscription in
      if subscription != nil { return true }
      // Not on the `netlink` thread, which must not be delayed by responses.
      let elsewhere = DeliveryContext { work in Task.detached { work() } }
      subscription = monitor.listen(forClientOf: target, client: client, on: elsewhere) { [weak watch] update in
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
    // Outside the lock, because it waits for a running delivery.
    ended?.cancel()
  }
}
