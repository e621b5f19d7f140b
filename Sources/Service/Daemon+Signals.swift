internal import UnixSignals

extension Daemon {
  /// Waits for a time, or until a further SIGINT or SIGTERM: a user who presses Control-C again does not want to wait.
  static func waitForSignal(atMost delay: Duration) async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { try? await Task.sleep(for: delay) }
      group.addTask { for await _ in await UnixSignalsSequence(trapping: .sigint, .sigterm) { return } }
      await group.next()
      group.cancelAll()
    }
  }
}
