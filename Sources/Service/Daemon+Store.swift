internal import History
internal import Logging

extension Daemon {
  /// Starts the threads of the store.
  func startStore() {
    data.log(to: logger)
    do throws(StoreError) {
      try data.store?.start()
    } catch {
      logger.critical("the store cannot be started", metadata: ["error": "\(error)"])
    }
  }

  /// Commits what waits; a disk that does not respond must not delay the end.
  func closeStore(within timeLimit: Duration) {
    guard let store = data.store, !store.close(within: max(timeLimit, .milliseconds(100))) else { return }
    logger.error("the store was not closed in time; the next start has new event ids")
  }
}
