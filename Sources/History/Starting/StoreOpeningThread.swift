internal import EventLoop
internal import HostProcess

/// The thread `opening`, while another thread opens the store: it ends the process at SIGTERM, and reports progress to the
/// service manager, so that no slow opening is ended by SIGKILL and counts as the fault of the database.
///
/// A migration of a large database or the recovery of a log takes minutes on a slow disk, in one call of SQLite.
final class StoreOpeningThread {
  private let thread: LoopThread
  private let watch: Watch

  /// Starts the thread; the calling thread opens the store, and ends this one with ``end()``.
  ///
  /// - Returns: nil if the process can start no thread or has no descriptors left.
  init?(_ start: StoreStart, _ manager: ServiceManager) {
    do throws(EventLoopError) {
      guard let watch = try Watch(start, manager) else { return nil }
      self.watch = watch
      thread = try LoopThread("opening") { [watch] in watch.run() }
    } catch {
      return nil
    }
  }

  /// Ends the thread and waits for it: the process has as many threads as before.
  func end() {
    watch.waker.wake()
    thread.join()
  }

  private final class Watch: Sendable {
    /// The message while the opening makes progress; systemd adds the time to the limit of the start (sd_notify(3)).
    private static let message =
      "EXTEND_TIMEOUT_USEC=\(Limits.openingExtension.components.seconds * 1_000_000)\nSTATUS=Opening the data directory."

    let waker: Waker
    private let start: StoreStart
    private let manager: ServiceManager
    private let signals: PendingTermination
    private let opening: ThreadProcessorTime

    init?(_ start: StoreStart, _ manager: ServiceManager) throws(EventLoopError) {
      guard let signals = PendingTermination(), let opening = ThreadProcessorTime() else { return nil }
      waker = try Waker()
      self.start = start
      self.manager = manager
      self.signals = signals
      self.opening = opening
    }

    func run() {
      guard let poller = try? Poller(capacity: 2), (try? waker.attach(to: poller, token: Poller.mailboxToken)) != nil,
        (try? poller.add(signals.descriptor, [.readable])) != nil
      else { return }
      var before = opening.nanoseconds
      while !waker.isPending {
        let count = poller.wait(atMost: Limits.openingInterval)
        if (0..<count).contains(where: { poller[$0].token != Poller.mailboxToken }) {
          // Otherwise the signal stays pending for the service, which ends its run in order.
          if start.abandon() { signals.exit() }
          return
        }
        // A disk that does not respond at all is no progress: the service manager may end the start then.
        let now = opening.nanoseconds
        if now > before, !waker.isPending { manager.notify(Self.message) }
        before = now
      }
    }
  }
}
