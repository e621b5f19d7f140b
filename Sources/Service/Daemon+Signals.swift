internal import UnixSignals

extension Daemon {
  /// Waits for a time, or until a further SIGINT: a user who presses Control-C again does not want to wait.
  ///
  /// A further SIGTERM changes nothing, because a service manager that signals a process and its group sends two.
  static func waitForInterrupt(atMost delay: Duration) async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { try? await Task.sleep(for: delay) }
      group.addTask { for await _ in await UnixSignalsSequence(trapping: .sigint) { return } }
      await group.next()
      group.cancelAll()
    }
  }
}
