internal import Events
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
    _ monitor: ReachabilityMonitor, _ events: EventHistory, machine: String,
    policy: @escaping @Sendable () -> ContactPolicy, _ logger: Logger
  ) -> WebhookDispatcher {
    func make(_ source: any WebhookEventSource, _ storage: any WebhookStorage, _ machine: String) -> WebhookDispatcher {
      WebhookDispatcher(
        monitor: monitor, checker: checker, source: source, storage: storage,
        configuration: .init(machine: machine, policy: policy), logger: logger)
    }
    let store: HistoryStore
    switch backend {
    case .store(let own): store = own
    case .other(let source, let storage, let machine): return make(source, storage, machine)
    }
    let tables = WebhookTables(store)
    let dispatcher = make(events, tables, machine)
    store.writeToNewFile { [weak dispatcher] (connection) throws(StoreQueryError) in
      try WebhookTables.write(dispatcher?.positions ?? [:], to: connection)
    }
    tables.forgetRemoved { [weak dispatcher] in dispatcher?.reports.map(\.definition.id) ?? [] }
    // The source has the log, which must not keep it.
    _ = events.log.register { [weak dispatcher, weak events] in
      if let events { dispatcher?.eventsAvailable(through: events.end) }
    }
    return dispatcher
  }
}
