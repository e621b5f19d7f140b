internal import Locks
internal import Names
internal import ReachabilityModel

/// Keeps the addresses of watched names current.
///
/// They are asked for at the start, when their time to live ends, and all of them when this machine's way out,
/// `/etc/resolv.conf` or `/etc/hosts` changes and when it wakes from sleep, because another network may have other name
/// servers and other answers. However often that happens, all names are asked anew at most once in
/// ``Limits/renewalPause``, and at most ``Limits/namesAsked`` at a time. What nobody watches but visitors of a service stands
/// in a line of its own: however many names they come up with that no server answers, no other name waits for those.
///
/// With a source of the test's own nothing is asked and nothing waits: its answers are taken in when a name comes to be
/// watched, and whenever the source says that they may be others.
final class NameWatcher: Sendable {
  let lines: NameLines
  private let source: (any NameSource)?
  /// How long the servers have for one name.
  var timeout: Duration {
    get { guarded.withLock(\.timeout) }
    set { guarded.withLock { $0.timeout = newValue } }
  }
  let guarded: Locked<State>
  /// Who takes the answers.
  let engine = Locked<WeakEngine>(WeakEngine())

  struct WeakEngine {
    weak var engine: Engine?
  }

  struct Watch {
    /// The numbers of those who watch it, so that ending one twice, or before it began, does not end another.
    var subscriptions: Set<Int> = []
    /// The same for visitors.
    var visits: Set<Int> = []
    /// Which question is the current one: an answer to an older one is dropped, also to one of a watch before this.
    var generation = 0
    /// The last addresses, which stay while the servers fail: an outage must not make a host unknown.
    var addresses: [IPAddress] = []
    /// Waits for the answer, or for the end of its life.
    var task: Task<Void, Never>?
    /// The queue in which it stands.
    var queued: Queue.Kind?
    /// The one in which it has to.
    var kind: Queue.Kind { subscriptions.isEmpty ? .visits : .own }
  }

  /// Names whose turn is to come, and how many are under way.
  struct Queue {
    enum Kind { case own, visits }

    var waiting: ArraySlice<ReachabilityTarget> = []
    /// Questions under way, superseded ones included until the resolver has let go of them.
    var asked = 0
  }

  struct State {
    var timeout: Duration
    var watches: [ReachabilityTarget: Watch] = [:]
    var generation = 0  // of the last question, over all watches
    var queues: [Queue.Kind: Queue] = [:]
    /// When all names were last asked anew.
    var renewed: ContinuousClock.Instant?
    var isRenewalDue = false
  }

  init(_ lines: NameLines, source: (any NameSource)? = nil, timeout: Duration) {
    self.lines = lines
    self.source = source
    guarded = Locked(State(timeout: timeout))
    // Either may be the one that runs.
    for line in [lines.watches, lines.visits] { line.onChange { [weak self] in self?.renew() } }
    source?.onChange { [weak self] in self?.takeAll() }
  }

  /// Sends the answers to this engine, which owns the watcher.
  func attach(_ engine: Engine) { self.engine.withLock { $0.engine = engine } }

  /// Watches the name of a target for one subscription, of a visitor's or not; nothing for targets that are no names.
  func watch(_ target: ReachabilityTarget, for subscription: Int, visiting: Bool = false) {
    guard case .name(let name) = target.remote else { return }
    guarded.withLock { state in
      let isNew = state.watches[target] == nil
      var watch = state.watches[target] ?? Watch()
      let isFirst = visiting ? isNew : watch.subscriptions.isEmpty
      if visiting { watch.visits.insert(subscription) } else { watch.subscriptions.insert(subscription) }
      state.watches[target] = watch
      if let source {
        // The watcher's caller has the kernel asked about it.
        if isNew { note(source.resolution(of: name), for: target, &state) }
      } else if isFirst {
        // Also when visitors have asked for it already: they may be waiting in line yet.
        ask(target, &state)
      }
    }
  }

  /// Stops watching when nobody else does.
  func unwatch(_ target: ReachabilityTarget, for subscription: Int) {
    guarded.withLock { state in
      state.watches[target]?.subscriptions.remove(subscription)
      state.watches[target]?.visits.remove(subscription)
      guard let watch = state.watches[target], watch.subscriptions.isEmpty, watch.visits.isEmpty else { return }
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

  // MARK: - Answers

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

  /// Keeps an answer and hands it on.
  func note(_ resolution: NameResolution, for target: ReachabilityTarget, _ state: inout State) {
    guard var watch = state.watches[target] else { return }
    var resolution = resolution
    switch resolution {
    // Many servers turn their answers round each time, which changes nothing.
    case .addresses(let addresses) where Set(addresses) == Set(watch.addresses):
      resolution = .addresses(watch.addresses)
    case .addresses(let addresses): watch.addresses = addresses
    case .failed where !watch.addresses.isEmpty: return
    case .failed, .notFound, .pending: watch.addresses = []
    }
    state.watches[target] = watch
    // Under the lock, so that the engine hears answers in order.
    engine.withLock(\.engine)?.resolved(target, resolution)
  }
}
