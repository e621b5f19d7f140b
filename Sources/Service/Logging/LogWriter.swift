internal import Dispatch
internal import Locks

/// Writes log lines on a queue of its own, so that a collector that does not read cannot stall the thread that logs.
///
/// The netlink thread logs every transition, and must go on when standard error is a full pipe. What came while the queue
/// wrote is written at once: a pulled cable is thousands of lines. At most ``capacity`` lines wait; further ones are dropped
/// and counted, and the count is written when there is room.
package final class LogWriter: Sendable {
  /// Lines that wait: about 200 KB, several seconds of the worst flapping.
  static let capacity = 1024

  private struct State {
    var lines: [String] = []
    /// Lines that were taken and are being written.
    var writingCount = 0
    var isWriting = false
    var dropped = 0
    var dropNotice: (@Sendable (Int) -> String)?
    var droppedTotal = 0
  }

  private let queue = DispatchQueue(label: "log")
  private let state: Locked<State>
  private let write: @Sendable (String) -> Bool

  /// A writer to `write`, which is given lines with breaks between them, may block, and says whether it has written them.
  ///
  /// - Parameters:
  ///   - startsPaused: whether lines wait for ``begin()``: the first one that is written starts a thread.
  ///   - write: writes.
  package init(startsPaused: Bool = false, write: @escaping @Sendable (String) -> Bool) {
    state = Locked(State(isWriting: startsPaused))
    self.write = write
  }

  /// Writes what has waited, and from now on everything.
  package func start() { queue.async { self.writeAll() } }

  /// Lines dropped since the start.
  var droppedTotal: Int { state.withLock(\.droppedTotal) }

  /// Writes a line soon; never blocks.
  ///
  /// - Parameters:
  ///   - line: the line without its end.
  ///   - dropNotice: makes the line that tells how many were dropped.
  func enqueue(_ line: String, dropNotice: @escaping @Sendable (Int) -> String) {
    let isFirst = state.withLock { state in
      state.dropNotice = dropNotice
      guard state.lines.count + state.writingCount < Self.capacity else {
        state.dropped += 1
        state.droppedTotal += 1
        return false
      }
      state.lines.append(line)
      defer { state.isWriting = true }
      return !state.isWriting
    }
    if isFirst { queue.async { self.writeAll() } }
  }

  private func writeAll() {
    while let (text, dropped) = next() {
      guard !write(text) else { continue }
      // With the next line it is tried again, and these are counted in its notice.
      return state.withLock { state in
        state.dropped += dropped + state.writingCount
        state.droppedTotal += state.writingCount
        state.writingCount = 0
        state.isWriting = false
      }
    }
  }

  /// What has come since the last time, as one text, and how many dropped lines it tells of; nil when that is nothing.
  private func next() -> (text: String, dropped: Int)? {
    let (lines, dropped, notice) = state.withLock { state in
      let taken = (state.lines, state.dropped, state.dropNotice)
      (state.lines, state.dropped) = ([], 0)
      state.writingCount = taken.0.count
      state.isWriting = !taken.0.isEmpty || taken.1 > 0
      return taken
    }
    guard !lines.isEmpty || dropped > 0 else { return nil }
    let last = dropped > 0 ? notice.map { [$0(dropped)] } ?? [] : []
    return ((lines + last).joined(separator: "\n"), dropped)
  }

  /// Waits until everything is written, or for this long.
  package func flush(seconds: Int) {
    let done = DispatchSemaphore(value: 0)
    queue.async { done.signal() }
    _ = done.wait(timeout: .now() + .seconds(seconds))
  }
}
