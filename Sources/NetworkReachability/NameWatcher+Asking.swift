internal import Locks
internal import Names
internal import ReachabilityModel

// Questions to the servers.
extension NameWatcher {
  /// Has a name stand in the queue of those who watch it.
  func ask(_ target: ReachabilityTarget, _ state: inout State) {
    guard let watch = state.watches[target], watch.queued != watch.kind else { return }
    let own = target.ownAddresses
    guard own == .pending else { return note(own, for: target, &state) }
    state.watches[target]?.queued = watch.kind
    state.queues[watch.kind, default: Queue()].waiting.append(target)
    askNext(watch.kind, &state)
  }

  private func askNext(_ kind: Queue.Kind, _ state: inout State) {
    var queue = state.queues[kind] ?? Queue()
    state.queues[kind] = nil
    defer { state.queues[kind] = queue }
    while queue.asked < Limits.namesAsked, let target = queue.waiting.popFirst() {
      // It may have come to stand in the other queue meanwhile.
      guard case .name(let name) = target.remote, var watch = state.watches[target], watch.queued == kind
      else { continue }
      watch.queued = nil
      state.generation += 1
      watch.generation = state.generation
      queue.asked += 1
      // What is under way for visitors is superseded.
      watch.task?.cancel()
      let resolver = kind == .visits ? lines.visits : lines.watches
      watch.task = Task { [weak self, timeout = state.timeout, generation = watch.generation] in
        let answer: Result<[ResolvedAddress], ResolutionFailure>
        do throws(ResolutionFailure) {
          answer = .success(try await resolver.resolve(name, timeout: timeout))
        } catch {
          answer = .failure(error)
        }
        guard let self, self.take(answer, for: target, generation, from: kind) else { return }
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
    _ answer: Result<[ResolvedAddress], ResolutionFailure>, for target: ReachabilityTarget, _ generation: Int,
    from kind: Queue.Kind
  ) -> Bool {
    guarded.withLock { state in
      state.queues[kind]?.asked -= 1
      askNext(kind, &state)
      guard state.watches[target]?.generation == generation else { return false }
      note(NameResolution(answer), for: target, &state)
      return true
    }
  }

  private func lifeHasEnded(of target: ReachabilityTarget, _ generation: Int) {
    guarded.withLock { state in
      if state.watches[target]?.generation == generation { ask(target, &state) }
    }
  }
}
