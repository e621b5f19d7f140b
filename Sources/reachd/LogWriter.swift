internal import Dispatch
internal import Synchronization

/// Writes log lines on a queue of its own, so that a collector that does not read cannot stall the thread that logs.
///
/// The netlink thread logs every transition, and must go on when standard error is a full pipe. At most ``capacity`` lines wait; further ones are dropped and counted, and the count is written when there is room.
final class LogWriter: Sendable {
  /// Lines that wait: about 200 KB, several seconds of the worst flapping.
  static let capacity = 1024

  private let queue = DispatchQueue(label: "log")
  private let waiting = Atomic(0)
  private let dropped = Atomic(0)
  private let allDropped = Atomic(0)
  private let write: @Sendable (String) -> Void

  /// A writer to `write`, which may block.
  init(write: @escaping @Sendable (String) -> Void) { self.write = write }

  /// Lines dropped since the start.
  var droppedInAll: Int { allDropped.load(ordering: .relaxed) }

  /// Writes a line soon; never blocks.
  ///
  /// - Parameters:
  ///   - line: the line without its end.
  ///   - dropNotice: makes the line that tells how many were dropped.
  func put(_ line: String, dropNotice: @escaping @Sendable (Int) -> String) {
    guard waiting.wrappingAdd(1, ordering: .relaxed).newValue <= Self.capacity else {
      waiting.wrappingSubtract(1, ordering: .relaxed)
      dropped.wrappingAdd(1, ordering: .relaxed)
      allDropped.wrappingAdd(1, ordering: .relaxed)
      return
    }
    queue.async { [self] in
      write(line)
      waiting.wrappingSubtract(1, ordering: .relaxed)
      let lost = dropped.exchange(0, ordering: .relaxed)
      if lost > 0 { write(dropNotice(lost)) }
    }
  }

  /// Waits until everything is written, or for this long.
  func flush(seconds: Int) {
    let done = DispatchSemaphore(value: 0)
    queue.async { done.signal() }
    _ = done.wait(timeout: .now() + .seconds(seconds))
  }
}
