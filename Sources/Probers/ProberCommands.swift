internal import DequeModule
internal import Glibc
internal import Synchronization

/// The commands that a prober's thread has received, and those that it gives itself: a schedule starts checks on this thread,
/// which needs neither a lock nor a wake-up for them.
///
/// Unchecked: the queue is confined to the thread.
final class ProberCommands: @unchecked Sendable {
  /// The thread (pthread_self(3)) while it accepts commands; 0 for none.
  private let thread = Atomic<UInt>(0)
  var queue: Deque<ProberInbox.Command> = []

  /// Whether the caller is the thread, and it accepts commands.
  var isOwn: Bool { thread.load(ordering: .relaxed) == pthread_self() }

  /// Called by the thread before its first command.
  func open() { thread.store(pthread_self(), ordering: .relaxed) }

  /// Called by the thread before it ends.
  func close() { thread.store(0, ordering: .relaxed) }
}
