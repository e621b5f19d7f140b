internal import Database
internal import EventStreams
public import History
internal import Logging
public import ReachabilityChecks
public import Webhooks

/// What webhooks need: the events, a place for their positions, and a checker that sends their requests.
public struct WebhookSetup: Sendable {
  /// Where the events and the positions are.
  public enum Backend: Sendable {
    /// The events of this process, and its store; it has the events that are no longer in memory.
    case store(HistoryStore)
    /// The events of another source, such as a fleet.
    case other(any WebhookEventSource, any WebhookStorage, machine: String)
  }

  /// Where the events and the positions are.
  public var backend: Backend
  /// Sends the requests; it should serve nothing else, so that no check delays an event.
  public var checker: Checker

  /// Creates a set-up.
  public init(_ backend: Backend, checker: Checker) {
    self.backend = backend
    self.checker = checker
  }

  /// Creates the dispatcher of a service and notifies it of new events.
  func makeDispatcher(
    _ monitor: ReachabilityMonitor, _ events: EventPublisher, machine: String,
    policy: @escaping @Sendable () -> ContactPolicy, _ logger: Logger
  ) -> WebhookDispatcher {
    let store: HistoryStore
    switch backend {
    case .store(let own): store = own
    case .other(let source, let storage, let machine):
      return WebhookDispatcher(
        monitor: monitor, checker: checker, source: source, storage: storage,
        configuration: .init(machine: machine, policy: policy), logger: logger)
    }
    let source = WebhookEvents(epoch: events.epoch, VisibleEvents(events.log, store), store)
    let tables = WebhookTables(store)
    let dispatcher = WebhookDispatcher(
      monitor: monitor, checker: checker, source: source, storage: tables,
      configuration: .init(machine: machine, policy: policy), logger: logger)
    store.writeToNewFile { [weak dispatcher] (connection) throws(DatabaseError) in
      try WebhookTables.write(dispatcher?.positions ?? [:], to: connection)
    }
    tables.forgetRemoved { [weak dispatcher] in dispatcher?.reports.map(\.definition.id) ?? [] }
    // The source has the log, which must not keep it.
    _ = events.log.register { [weak dispatcher, weak source] in
      if let source { dispatcher?.eventsAvailable(through: source.end) }
    }
    return dispatcher
  }
}
