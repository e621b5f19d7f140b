internal import Glibc
internal import Locks
internal import Synchronization

/// Whether the loop of a thread, or a queue, turns or waits, for ``LoopWatcher``.
///
/// The thread only counts: twice for each turn, at its begin and at its end. This needs no clock and no system call.
package final class LoopProgress: Sendable {
  /// The name of the thread or the queue.
  package let name: String
  /// Even while it waits, odd during a turn.
  private let count = Atomic<UInt64>(0)

  /// Makes the progress of a loop that waits, and has it watched until ``end()``.
  package init(_ name: String) {
    self.name = name
    Self.all.withLock { $0[ObjectIdentifier(self)] = self }
  }

  package func end() { Self.all.withLock { $0[ObjectIdentifier(self)] = nil } }

  /// Runs a turn of a queue, which has no thread of its own.
  package func turn(_ body: () -> Void) {
    beginTurn()
    body()
    endTurn()
  }

  /// The number of the turn in progress; nil while it waits.
  var currentTurn: UInt64? {
    let count = count.load(ordering: .relaxed)
    return count.isMultiple(of: 2) ? nil : count
  }

  package var turns: UInt64 { (count.load(ordering: .relaxed) + 1) / 2 }

  // Only the loop itself changes the count.

  func beginTurn() { count.store(count.load(ordering: .relaxed) | 1, ordering: .relaxed) }

  func endTurn() {
    let now = count.load(ordering: .relaxed)
    count.store(now &+ now % 2, ordering: .relaxed)
  }

  // MARK: - All loops of the process

  /// Threads belong to the process, so that an object that passes on their progress through all layers has no advantage.
  private static let all = Locked<[ObjectIdentifier: LoopProgress]>([:])

  package static var watched: [LoopProgress] { all.withLock { Array($0.values) } }

  // MARK: - The loop of the calling thread

  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    unsafe pthread_key_create(&key, nil)
    return key
  }()

  /// Runs the body of a thread, whose waits on a ``Poller`` end and begin its turns.
  func whileCurrent(_ body: () -> Void) {
    unsafe pthread_setspecific(Self.key, Unmanaged.passUnretained(self).toOpaque())
    body()
    pthread_setspecific(Self.key, nil)
    end()
  }

  /// The progress of the calling thread; nil if it is not watched.
  static var current: LoopProgress? {
    unsafe pthread_getspecific(key).map { unsafe Unmanaged.fromOpaque($0).takeUnretainedValue() }
  }
}
