internal import Dispatch
internal import Locks

/// Writes log lines on a queue of its own, so that a blocked log collector cannot block the thread that logs.
///
/// The netlink thread logs every transition and must continue when standard error is a full pipe. Lines that arrive
/// during a write are written together, because the loss of a link can cause thousands of lines. At most
/// ``capacity`` lines wait; further lines are dropped and counted, and the count is written when there is space.
package final class LogWriter: Sendable {
  /// The limit of queued lines: about 200 KB, several seconds of the worst flapping.
  static let capacity = 1024

  private struct State {
    var lines: [String] = []
    /// The lines that are being written.
    var writingCount = 0
    var isWriting = false
    var dropped = 0
    var dropNotice: (@Sendable (Int) -> String)?
    var droppedTotal = 0
  }

  private let queue = DispatchQueue(label: "log")
  private let state: Locked<State>
  private let write: @Sendable (String) -> Bool

  /// Creates a writer that calls `write` with lines separated by line breaks; `write` may block.
  ///
  /// - Parameters:
  ///   - startsPaused: whether lines wait for ``start()``, because the first line that is written starts a thread.
  ///   - write: writes the text and returns whether it succeeded.
  package init(startsPaused: Bool = false, write: @escaping @Sendable (String) -> Bool) {
    state = Locked(State(isWriting: startsPaused))
    self.write = write
  }

  /// Writes the queued lines, and from now on all lines.
  package func start() { queue.async { self.writeAll() } }

  /// The number of lines dropped since the start.
  var droppedTotal: Int { state.withLock(\.droppedTotal) }

  /// Queues a line; never blocks.
  ///
  /// - Parameters:
  ///   - line: the line without its line break.
  ///   - dropNotice: creates the line that reports how many lines were dropped.
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
      // The next line retries, and its notice counts these.
      return state.withLock { state in
        state.dropped += dropped + state.writingCount
        state.droppedTotal += state.writingCount
        state.writingCount = 0
        state.isWriting = false
      }
    }
  }

  /// Returns the lines queued since the last call as one text, with the number of dropped lines; nil if there are none.
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

  /// Waits until all lines are written, or until the timeout.
  package func flush(seconds: Int) {
    let done = Latch()
    queue.async { done.open() }
    _ = done.wait(atMost: .seconds(seconds))
  }
}
