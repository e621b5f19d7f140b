internal import Dispatch
internal import UnixSignals

extension ConfigurationReloader {
  /// Reloads the configuration on SIGHUP, and the files that it names when they change.
  func reloadOnSIGHUP() async {
    // On a queue of its own, because a file on an unavailable file server must not delay the shutdown. Any number of
    // signals during a reload leads to one more reload.
    let queue = DispatchQueue(label: "reload")
    let source = DispatchSource.makeUserDataOrSource(queue: queue)
    let files = ConfiguredFileWatch(
      queue, since: configuration.signatures, files: { self.watchedFiles }, changed: { self.reloadWatchedFiles() })
    source.setEventHandler {
      self.reload()
      files.update()
    }
    let sources = [source] + files.start()
    source.activate()
    for await _ in await UnixSignalsSequence(trapping: .sighup) { source.or(data: 1) }
    for source in sources { source.cancel() }
  }
}
