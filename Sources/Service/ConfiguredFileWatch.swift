internal import Dispatch
internal import EventLoop
internal import Locks

/// Reports on a queue when files that the configuration names have changed.
///
/// The kubelet replaces all files of a volume at the same time, by a symbolic link; other programs write a certificate and its
/// key one after the other. So a change is reported when no other has followed it for a moment.
final class ConfiguredFileWatch: Sendable {
  /// How long after the last change it is reported: programs write a certificate and its key within milliseconds.
  private static let settleTime = DispatchTimeInterval.milliseconds(500)
  /// How often the files are compared without an event, which file systems such as NFS and FUSE do not report.
  private static let comparisonInterval = DispatchTimeInterval.seconds(60)

  private struct State {
    let watcher: FileWatcher
    /// The number of changes so far.
    var changes = 0
  }

  private let queue: DispatchQueue
  private let files: @Sendable () -> [String]
  private let changed: @Sendable () -> Void
  private let state: Locked<State>

  /// Makes a watch that is not started.
  ///
  /// - Parameters:
  ///   - queue: serial; `changed` is called on it.
  ///   - signatures: the files as they were when the configuration was read.
  ///   - files: returns the files.
  ///   - changed: handles a change; the files are determined again after it.
  init(
    _ queue: DispatchQueue, since signatures: [String: FileSignature], files: @escaping @Sendable () -> [String],
    changed: @escaping @Sendable () -> Void
  ) {
    state = Locked(State(watcher: FileWatcher(files(), since: signatures)))
    self.queue = queue
    self.files = files
    self.changed = changed
  }

  /// Begins to watch.
  ///
  /// - Returns: the sources of events; cancelling them ends the watch, and a report that is due may still come.
  func start() -> [any DispatchSourceProtocol] {
    let timer = DispatchSource.makeTimerSource(queue: queue)
    timer.schedule(
      deadline: .now() + Self.comparisonInterval, repeating: Self.comparisonInterval, leeway: .seconds(10))
    let descriptor = state.withLock(\.watcher.descriptor)
    // Without inotify the timer alone finds changes.
    let events = descriptor < 0 ? nil : DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    let sources: [any DispatchSourceProtocol] = [timer] + (events.map { [$0] } ?? [])
    for source in sources {
      source.setEventHandler { [weak self] in self?.compare() }
      source.activate()
    }
    queue.async { [weak self] in self?.compare() }
    return sources
  }

  /// Watches the files that the configuration names now.
  func update() {
    let files = files()
    state.withLock { $0.watcher.watch(files) }
  }

  private func compare() {
    let number: Int? = state.withLock { state in
      guard state.watcher.checkForChanges() else { return nil }
      state.changes += 1
      return state.changes
    }
    guard let number else { return }
    queue.asyncAfter(deadline: .now() + Self.settleTime) { [weak self] in
      guard let self, state.withLock(\.changes) == number else { return }
      changed()
      update()
    }
  }
}
