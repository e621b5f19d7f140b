internal import Locks
internal import Names
internal import ReachabilityModel

/// Keeps the addresses of watched names current.
///
/// They are asked for at the start, when their time to live ends, and all of them when this machine's way out,
/// `/etc/resolv.conf` or `/etc/hosts` changes and when it wakes from sleep, because another network may have other name
/// servers and other answers. However often that happens, all names are asked anew at most once in
/// ``Limits/renewalPause``, and at most ``Limits/namesAsked`` at a time.
///
/// With a source of the test's own nothing is asked and nothing waits: its answers are taken in when a name comes to be
/// watched, and whenever the source says that they may be others.
final class NameWatcher: Sendable {
  private let lines: NameLines
  private let source: (any NameSource)?
  /// How long the servers have for one name.
  var timeout: Duration {
    get { guarded.withLock(\.timeout) }
    set { guarded.withLock { $0.timeout = newValue } }
  }
  private let guarded: Locked<State>
  /// Who takes the answers.
  private let engine = Locked<WeakEngine>(WeakEngine())

  private struct WeakEngine {
    weak var engine: Engine?
  }

  private struct Watch {
    /// The numbers of those who watch it, so that ending one twice, or before it began, does not end another.
    var subscriptions: Set<Int>
    /// Which question is the current one: an answer to an older one is dropped, also to one of a watch before this.
    var generation = 0
    /// The last addresses, which stay while the servers fail: an outage must not make a host unknown.
    var addresses: [IPAddress] = []
    /// Waits for the answer, or for the end of its life.
    var task: Task<Void, Never>?
    var isQueued = false
  }

  private struct State {
    var timeout: Duration
    var watches: [Target: Watch] = [:]
    var generation = 0  // of the last question, over all watches
    /// The names whose turn is to come.
    var queue: ArraySlice<Target> = []
    /// Questions under way, superseded ones included until the resolver has let go of them.
    var asked = 0
    /// When all names were last asked anew.
    var renewed: ContinuousClock.Instant?
    var isRenewalDue = false
  }

  init(_ lines: NameLines, source: (any NameSource)? = nil, timeout: Duration) {
    self.lines = lines
    self.source = source
    guarded = Locked(State(timeout: timeout))
    lines.watches.onChange { [weak self] in self?.renew() }
    source?.onChange { [weak self] in self?.takeAll() }
  }

  /// Sends the answers to this engine, which owns the watcher.
  func attach(_ engine: Engine) { self.engine.withLock { $0.engine = engine } }

  /// Watches the name of a target for one subscription; nothing for targets that are no names.
  func watch(_ target: Target, for subscription: Int) {
    guard case .name(let name) = target.remote else { return }
    guarded.withLock { state in
      if state.watches[target] != nil {
        state.watches[target]?.subscriptions.insert(subscription)
      } else {
        state.watches[target] = Watch(subscriptions: [subscription])
        // The watcher's caller has the kernel asked about it.
        if let source { note(source.resolution(of: name), for: target, &state) } else { ask(target, &state) }
      }
    }
  }

  /// Stops watching when nobody else does.
  func unwatch(_ target: Target, for subscription: Int) {
    guarded.withLock { state in
      state.watches[target]?.subscriptions.remove(subscription)
      guard let watch = state.watches[target], watch.subscriptions.isEmpty else { return }
      watch.task?.cancel()
      state.watches[target] = nil
    }
  }

  /// Asks again for every name: at once, or when the pause since the last time is over.
  func renew() {
    guarded.withLock { state in
      guard source == nil, !state.isRenewalDue else { return }
      let now = ContinuousClock.now
      guard let last = state.renewed, now < last + Limits.renewalPause else { return renewAll(&state, now) }
      state.isRenewalDue = true
      Task { [weak self] in
        try? await Task.sleep(until: last + Limits.renewalPause, clock: .continuous)
        self?.renewalIsDue()
      }
    }
  }

  private func renewalIsDue() {
    guarded.withLock { state in
      state.isRenewalDue = false
      renewAll(&state, .now)
    }
  }

  private func renewAll(_ state: inout State, _ now: ContinuousClock.Instant) {
    state.renewed = now
    // What others know of names is out of date, too.
    lines.flush()
    for target in state.watches.keys {
      // What is under way asks the old servers, perhaps from an address that is gone.
      state.watches[target]?.task?.cancel()
      state.watches[target]?.generation = -1
      ask(target, &state)
    }
  }

  // MARK: - Questions

  private func ask(_ target: Target, _ state: inout State) {
    guard state.watches[target]?.isQueued == false else { return }
    state.watches[target]?.isQueued = true
    state.queue.append(target)
    askNext(&state)
  }

  private func askNext(_ state: inout State) {
    while state.asked < Limits.namesAsked, let target = state.queue.popFirst() {
      guard var watch = state.watches[target], watch.isQueued, case .name(let name) = target.remote else { continue }
      watch.isQueued = false
      state.generation += 1
      watch.generation = state.generation
      state.asked += 1
      watch.task = Task {
        [weak self, resolver = lines.watches, timeout = state.timeout, generation = watch.generation] in
        let answer: Result<[ResolvedAddress], ResolutionFailure>
        do throws(ResolutionFailure) {
          answer = .success(try await resolver.resolve(name, timeout: timeout))
        } catch {
          answer = .failure(error)
        }
        guard let self, self.take(answer, for: target, generation) else { return }
        // Without this watcher's lock: the reading that follows may lead back here.
        self.engine.withLock(\.engine)?.refreshSource()
        try? await Task.sleep(for: Self.life(of: answer))
        self.lifeHasEnded(of: target, generation)
      }
      state.watches[target] = watch
    }
  }

  /// Takes an answer in.
  ///
  /// - Returns: false when its question is superseded.
  private func take(
    _ answer: Result<[ResolvedAddress], ResolutionFailure>, for target: Target, _ generation: Int
  ) -> Bool {
    guarded.withLock { state in
      state.asked -= 1
      askNext(&state)
      guard state.watches[target]?.generation == generation else { return false }
      note(NameResolution(answer), for: target, &state)
      return true
    }
  }

  /// Takes in what the source says of every name.
  private func takeAll() {
    guard let source else { return }
    guarded.withLock { state in
      for target in state.watches.keys {
        if case .name(let name) = target.remote { note(source.resolution(of: name), for: target, &state) }
      }
    }
    engine.withLock(\.engine)?.refreshSource()
  }

  private func note(_ resolution: NameResolution, for target: Target, _ state: inout State) {
    guard var watch = state.watches[target] else { return }
    switch resolution {
    case .addresses(let addresses): watch.addresses = addresses
    case .failed where !watch.addresses.isEmpty: return
    case .failed, .notFound, .pending: watch.addresses = []
    }
    state.watches[target] = watch
    // Under the lock, so that the engine hears answers in order.
    engine.withLock(\.engine)?.resolved(target, resolution)
  }

  private func lifeHasEnded(of target: Target, _ generation: Int) {
    guarded.withLock { state in
      if state.watches[target]?.generation == generation { ask(target, &state) }
    }
  }
}
