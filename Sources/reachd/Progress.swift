internal import HostProcess
internal import Locks
internal import TerminalUI

/// Shows how a long command advances: one line on standard error, if that is a terminal, after a second.
final class Progress: Sendable {
  private struct State {
    var done: Int?
    var isShown = false
  }

  private let verb: String
  private let total: Int
  private let limit: String?
  private let state: Locked<State>
  private let isEnabled =
    ProcessTerminal.isTerminal(2) && !["", "dumb"].contains(ProcessEnvironment.all["TERM", default: ""])

  /// Creates the progress of a command.
  ///
  /// - Parameters:
  ///   - verb: what the command does.
  ///   - total: the number of targets.
  ///   - isCounted: whether results arrive one by one; see ``advance(_:)``.
  ///   - limit: the time limit, as it was written.
  init(_ verb: String, of total: Int, isCounted: Bool, limit: String? = nil) {
    (self.verb, self.total, self.limit) = (verb, total, limit)
    state = Locked(State(done: isCounted ? 0 : nil))
  }

  /// Runs the body with the line, which is removed at its end.
  func during<Result>(_ body: () async throws -> Result) async rethrows -> Result {
    guard isEnabled else { return try await body() }
    let clock = Task { [self] in
      var seconds = ProgressLine.delay
      try? await Task.sleep(for: .seconds(seconds))
      while !Task.isCancelled {
        show(after: seconds)
        try? await Task.sleep(for: .seconds(1))
        seconds += 1
      }
    }
    defer {
      clock.cancel()
      state.withLock { state in Self.clear(&state) }
    }
    return try await body()
  }

  /// Counts a result, and prints it in place of the line.
  func advance(_ print: () -> Void) {
    state.withLock { state in
      state.done? += 1
      Self.clear(&state)
      print()
    }
  }

  private func show(after seconds: Int) {
    let (columns, _) = ProcessTerminal.size(of: 2)
    state.withLock { state in
      // The clock may be late: the command has ended.
      guard !Task.isCancelled else { return }
      let text = ProgressLine.text(
        verb, done: state.done, of: total, after: seconds, limit: limit, columns: columns > 0 ? columns : 80)
      state.isShown = true
      Terminal.writeControl(ProgressLine.clear + text)
    }
  }

  private static func clear(_ state: inout State) {
    if state.isShown { Terminal.writeControl(ProgressLine.clear) }
    state.isShown = false
  }
}
