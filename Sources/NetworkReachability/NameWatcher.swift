internal import Locks
internal import Probes
internal import ReachabilityModel

/// Keeps the addresses of watched names current.
///
/// They are asked for at the start, when their time to live ends, and when this machine's way out changes, because
/// another network may have other name servers and other answers.
final class NameWatcher: Sendable {
  private let resolver: Resolver
  private let watched = Locked<[Target: Watch]>([:])

  private struct Watch {
    /// The numbers of those who watch it, so that ending one twice, or before it began, does not end another.
    var subscriptions: Set<Int>
    /// Which question is the current one: an answer to an older one is dropped.
    var generation = 0
    /// The last addresses, which stay while the servers fail: an outage must not make a host unknown.
    var addresses: [IPAddress] = []
    var task: Task<Void, Never>?
  }

  /// Who takes the answers.
  private let engine = Locked<WeakEngine>(WeakEngine())

  private struct WeakEngine {
    weak var engine: Engine?
  }

  init(resolver: Resolver) { self.resolver = resolver }

  /// Sends the answers to this engine, which owns the watcher.
  func attach(_ engine: Engine) { self.engine.withLock { $0.engine = engine } }

  /// Watches the name of a target for one subscription; nothing for targets that are no names.
  func watch(_ target: Target, for subscription: Int) {
    guard case .name(let name) = target.remote else { return }
    watched.withLock { watched in
      if watched[target] != nil {
        watched[target]?.subscriptions.insert(subscription)
      } else {
        watched[target] = Watch(subscriptions: [subscription])
        ask(target, name, &watched)
      }
    }
  }

  /// Stops watching when nobody else does.
  func unwatch(_ target: Target, for subscription: Int) {
    watched.withLock { watched in
      watched[target]?.subscriptions.remove(subscription)
      guard let watch = watched[target], watch.subscriptions.isEmpty else { return }
      watch.task?.cancel()
      watched[target] = nil
    }
  }

  /// Asks again for every name, because the way out has changed.
  func pathChanged() {
    watched.withLock { watched in
      guard !watched.isEmpty else { return }
      resolver.flush()
      for target in watched.keys {
        guard case .name(let name) = target.remote else { continue }
        ask(target, name, &watched)
      }
    }
  }

  private func ask(_ target: Target, _ name: String, _ watched: inout [Target: Watch]) {
    watched[target]?.task?.cancel()
    watched[target]?.generation += 1
    guard let generation = watched[target]?.generation else { return }
    watched[target]?.task = Task { [weak self, resolver] in
      while !Task.isCancelled {
        let answer: Result<[ResolvedAddress], ResolutionFailure>
        do throws(ResolutionFailure) {
          answer = .success(try await resolver.resolve(name, timeout: Limits.nameTimeout))
        } catch {
          answer = .failure(error)
        }
        guard let self, self.take(answer, for: target, generation) else { return }
        // Without this watcher's lock: the reading that follows may lead back here.
        self.engine.withLock(\.engine)?.refreshSource()
        try? await Task.sleep(for: Self.life(of: answer))
      }
    }
  }

  private func take(
    _ answer: Result<[ResolvedAddress], ResolutionFailure>, for target: Target, _ generation: Int
  ) -> Bool {
    watched.withLock { watched in
      guard var watch = watched[target], watch.generation == generation else { return false }
      let resolution = NameResolution(answer)
      switch resolution {
      case .addresses(let addresses): watch.addresses = addresses
      case .failed where !watch.addresses.isEmpty: return true
      case .failed, .notFound, .pending: watch.addresses = []
      }
      watched[target] = watch
      // Under the lock, so that the engine hears answers in order.
      engine.withLock(\.engine)?.resolved(target, resolution)
      return true
    }
  }

  /// How long an answer is trusted.
  private static func life(of answer: Result<[ResolvedAddress], ResolutionFailure>) -> Duration {
    guard case .success(let addresses) = answer else { return Limits.failedNameRetry }
    // Addresses of the hosts file have no time to live of their own.
    let life = addresses.compactMap(\.timeToLive).min() ?? Limits.longestNameLife
    return min(max(life, Limits.shortestNameLife), Limits.longestNameLife)
  }
}
