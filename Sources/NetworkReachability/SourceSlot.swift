internal import Locks
internal import ReachabilityModel

/// The run of a source that is on, if any: shared by the monitor, which starts and stops it, and the engine, which asks it.
///
/// Its lock is taken before the locks of the names and of the engine, never inside one of them.
final class SourceSlot: Sendable {
  /// A source and what observes it; the slot holds both, because a source holds its observer.
  struct Running {
    let source: any KernelSource
    let run: EngineRun
    let opening = Opening()

    func stop() { source.stop(for: run) }
  }

  private let running = Locked<Running?>(nil)

  /// The source that runs; nil when none does.
  var current: (any KernelSource)? { running.withLock { $0?.source } }

  /// Whether this run is the one that is on.
  func holds(_ run: EngineRun) -> Bool { running.withLock { $0?.run === run } }

  /// Puts a new source in and begins its run, unless there is one.
  ///
  /// - Returns: what runs now, and whether it is new.
  func fill(_ make: () -> any KernelSource, _ begin: () -> EngineRun) -> (running: Running, isNew: Bool) {
    if let running = running.withLock(\.self) { return (running, false) }
    let source = make()
    return running.withLock { running in
      if let running { return (running, false) }
      let fresh = Running(source: source, run: begin())
      running = fresh
      return (fresh, true)
    }
  }

  /// Takes a run out, unless another has taken its place.
  func empty(of failed: EngineRun) {
    running.withLock { if $0?.run === failed { $0 = nil } }
  }

  /// Takes the run out, with what `body` does in the same step.
  func empty<Result>(_ body: () -> sending Result) -> (running: Running?, Result) {
    running.withLock { running in
      defer { running = nil }
      return (running, body())
    }
  }
}
