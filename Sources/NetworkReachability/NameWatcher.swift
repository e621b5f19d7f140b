internal import DequeModule
internal import Locks
internal import HostResolver
internal import ReachabilityModel

/// Keeps the addresses of watched names current.
///
/// A name is looked up when it is first watched and when its time to live ends. All names are looked up when this machine's
/// default path, `/etc/resolv.conf` or `/etc/hosts` changes and after sleep, because another network may have other name
/// servers and other answers; at most once in ``Limits/renewalInterval``, and at most ``Limits/concurrentNames`` at a time.
/// Names with ephemeral subscriptions only have a queue of their own, so that unanswered lookups do not delay other names. The
/// queries for them are limited, and the names of one client are looked up at intervals that grow with their number.
///
/// A ``NameSource`` replaces all lookups: its answer is applied when a name is first watched and when the source reports a
/// change.
final class NameWatcher: Sendable {
  private let pool: NameResolverPool
  private let source: (any NameSource)?
  private let guarded: Locked<State>
  /// The receiver of the answers.
  private let engine = WeakReference<Engine>()

  private struct State {
    var timeout: Duration
    var watches: [ReachabilityTarget: NameWatch] = [:]
    /// The number of names that each client of the service watches.
    var clientNames: [String: Int] = [:]
    /// The generation of the last lookup, over all watches.
    var generation = 0
    var queues: [NameWatchQueue.Kind: NameWatchQueue] = [:]
    /// When all names were last renewed.
    var renewed: ContinuousClock.Instant?
    var isRenewalDue = false
  }

  init(_ resolver: WatchedNameResolver, timeout: Duration) {
    pool = resolver.pool
    source = resolver.source
    guarded = Locked(State(timeout: timeout))
    // A resolver watches its files only while its thread runs, which may be true for either.
    for resolver in [pool.watches, pool.ephemeralWatches] { resolver.onChange { [weak self] in self?.renew() } }
    source?.onChange { [weak self] in self?.applySource() }
  }

  var timeout: Duration {
    get { guarded.withLock(\.timeout) }
    set { guarded.withLock { $0.timeout = newValue } }
  }

  /// The number of names that each client of the service watches.
  var clientNames: [String: Int] { guarded.withLock(\.clientNames) }

  /// Sets the engine that receives the answers, and owns the watcher.
  func attach(_ engine: Engine) { self.engine.object = engine }

  /// Watches the name of a target for a subscription; has no effect for a target without a name.
  ///
  /// - Parameters:
  ///   - target: the target.
  ///   - subscription: the number of the subscription.
  ///   - client: the client of the service that an ephemeral subscription is for.
  func watch(_ target: ReachabilityTarget, for subscription: Int, client: String? = nil) {
    guard case .name(let name) = target.remote else { return }
    guarded.withLock { state in
      let isNew = state.watches[target] == nil
      var watch = state.watches[target] ?? NameWatch()
      let isFirst = client != nil ? isNew : watch.subscriptions.isEmpty
      if let client {
        watch.ephemeralSubscriptions.insert(subscription)
        if watch.client == nil {
          watch.client = client
          state.clientNames[client, default: 0] += 1
        }
      } else {
        watch.subscriptions.insert(subscription)
      }
      state.watches[target] = watch
      if let source {
        // The caller then requests a reading.
        if isNew { apply(source.resolution(of: name), to: target, &state) }
      } else if isFirst {
        // Also when the name has ephemeral subscriptions: its lookup may still be queued.
        enqueue(target, &state)
      }
    }
  }

  /// Ends a subscription, and stops to watch the name after the last.
  func unwatch(_ target: ReachabilityTarget, for subscription: Int) {
    guarded.withLock { state in
      state.watches[target]?.subscriptions.remove(subscription)
      state.watches[target]?.ephemeralSubscriptions.remove(subscription)
      if let client = state.watches[target]?.client, state.watches[target]?.ephemeralSubscriptions.isEmpty == true {
        state.watches[target]?.client = nil
        state.clientNames[client] = state.clientNames[client].flatMap { $0 > 1 ? $0 - 1 : nil }
      }
      guard let watch = state.watches[target], watch.subscriptions.isEmpty, watch.ephemeralSubscriptions.isEmpty
      else { return }
      watch.task?.cancel()
      state.watches[target] = nil
    }
  }

  /// Looks up every name: immediately, or after the minimum interval since the last renewal.
  func renew() {
    guarded.withLock { state in
      guard source == nil, !state.isRenewalDue else { return }
      let now = ContinuousClock.now
      guard let last = state.renewed, now < last + Limits.renewalInterval else { return renewAll(&state, now) }
      state.isRenewalDue = true
      Task { [weak self] in
        try? await Task.sleep(until: last + Limits.renewalInterval, clock: .continuous)
        self?.renewAfterInterval()
      }
    }
  }

  private func renewAfterInterval() {
    guarded.withLock { state in
      state.isRenewalDue = false
      renewAll(&state, .now)
    }
  }

  private func renewAll(_ state: inout State, _ now: ContinuousClock.Instant) {
    state.renewed = now
    // The answers in all caches are out of date, too.
    pool.flush()
    for target in state.watches.keys {
      // A lookup in progress asks the old servers, perhaps from an address that was removed.
      state.watches[target]?.task?.cancel()
      state.watches[target]?.generation = -1
      enqueue(target, &state)
    }
  }

  // MARK: - Lookups

  private func enqueue(_ target: ReachabilityTarget, _ state: inout State) {
    guard let watch = state.watches[target], watch.queued != watch.kind else { return }
    let special = target.specialAddresses
    guard special == .pending else { return apply(special, to: target, &state) }
    state.watches[target]?.queued = watch.kind
    state.queues[watch.kind, default: NameWatchQueue()].waiting.append(target)
    startNext(watch.kind, &state)
  }

  private func startNext(_ kind: NameWatchQueue.Kind, _ state: inout State) {
    var queue = state.queues[kind] ?? NameWatchQueue()
    state.queues[kind] = nil
    defer { state.queues[kind] = queue }
    while queue.running < kind.limit, let target = queue.waiting.popFirst() {
      // The name may have moved to the other queue.
      guard case .name(let name) = target.remote, var watch = state.watches[target], watch.queued == kind
      else { continue }
      watch.queued = nil
      state.generation += 1
      watch.generation = state.generation
      queue.running += 1
      // Supersedes a lookup for ephemeral subscriptions.
      watch.task?.cancel()
      let resolver = kind == .ephemeral ? pool.ephemeralWatches : pool.watches
      watch.task = Task { [weak self, timeout = state.timeout, generation = watch.generation] in
        let answer: Result<ResolvedAddresses, HostResolutionFailure>
        do throws(HostResolutionFailure) {
          answer = .success(try await resolver.resolve(name, timeout: timeout))
        } catch {
          answer = .failure(error)
        }
        guard let self, let interval = self.take(answer, for: target, generation, from: kind) else { return }
        // Without the watcher's lock, because the reading that follows may call back into it.
        self.engine.object?.refreshSource()
        try? await Task.sleep(for: interval)
        self.timeToLiveEnded(of: target, generation)
      }
      state.watches[target] = watch
    }
  }

  /// Applies an answer.
  ///
  /// - Returns: how long it is used; nil when its lookup was superseded.
  private func take(
    _ answer: Result<ResolvedAddresses, HostResolutionFailure>, for target: ReachabilityTarget, _ generation: Int,
    from kind: NameWatchQueue.Kind
  ) -> Duration? {
    guarded.withLock { state in
      state.queues[kind]?.running -= 1
      startNext(kind, &state)
      guard let watch = state.watches[target], watch.generation == generation else { return nil }
      // A name that no server was asked for stays as it is.
      if answer != .failure(.tooManyQueries) { apply(NameResolution(answer), to: target, &state) }
      let client = watch.kind == .ephemeral ? watch.client : nil
      return NameWatch.timeToLive(of: answer, clientNames: client.flatMap { state.clientNames[$0] } ?? 0)
    }
  }

  private func timeToLiveEnded(of target: ReachabilityTarget, _ generation: Int) {
    guarded.withLock { state in
      if state.watches[target]?.generation == generation { enqueue(target, &state) }
    }
  }

  // MARK: - Answers

  /// Applies the source's answers for all names.
  private func applySource() {
    guard let source else { return }
    guarded.withLock { state in
      for target in state.watches.keys {
        if case .name(let name) = target.remote { apply(source.resolution(of: name), to: target, &state) }
      }
    }
    engine.object?.refreshSource()
  }

  /// Stores an answer and passes it to the engine.
  private func apply(_ resolution: NameResolution, to target: ReachabilityTarget, _ state: inout State) {
    guard let watch = state.watches[target] else { return }
    var resolution = resolution
    switch (resolution, watch.answer) {
    // Many servers rotate the order of their answers, which is not a change.
    case (.addresses(let new, let newOmitted), .addresses(let old, let oldOmitted))
    where newOmitted == oldOmitted && Set(new) == Set(old): resolution = watch.answer
    case (.failed, .addresses), (.failed, .notFound): return
    case (.failed, _): break
    case (.addresses, _), (.notFound, _), (.pending, _): state.watches[target]?.answer = resolution
    }
    // Under the lock, so that the engine receives answers in order.
    engine.object?.setResolution(resolution, of: target)
  }
}
