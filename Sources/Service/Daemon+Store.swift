internal import History
internal import Logging
internal import StatusAPI

extension Daemon {
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

extension HealthCheck {
  /// Whether the start is over: before, a kill may count as the fault of the database.
  static func start(_ store: HistoryStore) -> HealthCheck {
    HealthCheck("start") { store.isStarting ? "the states of the data directory are being restored" : nil }
  }
}
