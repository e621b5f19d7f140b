internal import Locks
internal import ReachabilityModel

/// The source that runs now, if any: shared by the monitor, which starts and stops it, and the engine, which asks it.
final class SourceSlot: Sendable {
  private let source = Locked<(any KernelSource)?>(nil)

  /// The source that runs; nil when none does.
  var current: (any KernelSource)? { source.withLock(\.self) }

  /// Puts a new source in, unless there is one.
  ///
  /// - Returns: the new source; nil when there was one.
  func fill(_ make: () -> any KernelSource) -> (any KernelSource)? {
    let fresh = make()
    return source.withLock { source in
      guard source == nil else { return nil }
      source = fresh
      return fresh
    }
  }

  /// Takes the source out.
  @discardableResult
  func empty() -> (any KernelSource)? {
    source.withLock { source in
      defer { source = nil }
      return source
    }
  }
}
