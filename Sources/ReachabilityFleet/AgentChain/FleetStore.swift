/// The agent's store as the outbox needs it: its events are the truth, and the engine gets copies of them.
///
/// Completions are called once, on a thread of the store, without a lock.
public protocol FleetStore: AnyObject, Sendable {
  /// The identity of the store; another one after it was deleted or has lost events.
  var epoch: String { get }

  /// Reads the changes of fleet targets after a number.
  ///
  /// - Parameters:
  ///   - number: the number of the last event that is published.
  ///   - limit: the number of changes; with the limit of a message's bytes, at least one.
  ///   - completion: receives the changes; ``FleetOutbox`` collapses them when there are more than its limits permit.
  func changes(
    after number: UInt64, limit: Int, completion: @escaping @Sendable (Result<FleetOutboxPage, FleetStoreError>) -> Void
  )

  /// Reads all cells with the number of the last event that they include.
  func base(completion: @escaping @Sendable (Result<FleetAgentBase, FleetStoreError>) -> Void)

  /// Keeps which events the engine has acknowledged; they are subject to retention then.
  func save(_ acknowledgement: FleetAcknowledgement)
}

/// A page of the outbox.
public struct FleetOutboxPage: Hashable, Sendable {
  /// The number after which the page begins: the requested one, or a higher one when the store has deleted the events
  /// between.
  public var start: UInt64
  /// The changes, ascending.
  public var changes: [FleetCellChange]
  /// The number up to which the store was read; at least the number of the last change.
  ///
  /// Events between that are not of fleet targets have no change.
  public var through: UInt64
  /// The number of the store's last event.
  public var last: UInt64
}

/// All cells of an agent.
public struct FleetAgentBase: Hashable, Sendable {
  /// The number of the last event that the cells include.
  public var number: UInt64
  /// The cells, sorted by target.
  public var cells: [FleetBaseCell]

  /// Creates a base.
  public init(number: UInt64, cells: [FleetBaseCell]) {
    self.number = number
    self.cells = cells
  }
}

/// What the engine has acknowledged of an epoch's events.
public struct FleetAcknowledgement: Hashable, Sendable {
  /// The identity of the store whose events they are.
  public var epoch: String
  /// The number up to which the present stream has the events; 0 after the engine has lost its stream.
  public var acked: UInt64
  /// The highest number that any stream had.
  public var ackedEver: UInt64

  /// Creates an acknowledgement.
  public init(epoch: String, acked: UInt64 = 0, ackedEver: UInt64 = 0) {
    self.epoch = epoch
    self.acked = acked
    self.ackedEver = ackedEver
  }
}

/// The store cannot be read; the agent publishes from memory, or later.
public struct FleetStoreError: Error, Hashable, Sendable {
  /// Why.
  public var reason: String

  /// Creates an error.
  public init(_ reason: String) { self.reason = reason }
}
