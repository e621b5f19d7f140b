public import Database
internal import Locks

extension HistoryStore {
  // MARK: - Reading

  /// The number of the last visible event: it is committed, or the disk is not waited for.
  public var visibleEnd: UInt64 { queue.lastVisible }

  /// Registers a closure that is called after ``visibleEnd`` has advanced, on a thread of the store, without a lock.
  ///
  /// Calls for two advances may arrive in any order.
  public func observe(_ observer: @escaping @Sendable (_ visibleEnd: UInt64) -> Void) { observers.add(observer) }

  /// Runs a query on a read-only connection, on the queue `history`, in one read transaction.
  ///
  /// - Parameters:
  ///   - query: what to read: at most about 1,000 rows or 100 ms, because a long read keeps the log from being reused. It may wait
  ///     and take 2 s.
  ///   - completion: called on the queue, or immediately with ``StoreError/busy``.
  public func read<Value: Sendable>(
    _ query: @escaping @Sendable (DatabaseConnection) throws(DatabaseError) -> Value,
    completion: @escaping @Sendable (Result<Value, StoreError>) -> Void
  ) {
    readers.read(query, within: Self.defaultReadDeadline, completion)
  }

  /// The time limit of a query.
  public static let defaultReadDeadline = Duration.seconds(2)

  /// Reads the stored events after a number, oldest first, up to some bytes and at least one.
  ///
  /// - Parameters:
  ///   - sequence: the number of the last event that the reader has.
  ///   - bytes: the limit of the frames' bytes.
  ///   - completion: receives the events, empty when there are no more; nil when one of the events after the number is not
  ///     stored.
  public func events(
    after sequence: UInt64, limit bytes: Int,
    completion: @escaping @Sendable (Result<[StoredEvent]?, StoreError>) -> Void
  ) {
    read(
      { (connection) throws(DatabaseError) in
        try StoredEvent.read(after: sequence, limit: bytes, in: connection)
      }, completion: completion)
  }

  // MARK: - State

  /// Whether events are committed before they are visible.
  public var state: StoreState { queue.state }

  /// Events and bytes that wait for their commit, and the events that were not kept since the start.
  public var load: (events: Int, bytes: Int, unkept: UInt64) { queue.load }

  /// The bytes of the database with its log.
  public var bytes: Int64 { statistics.bytes }

  // MARK: - Observers

  final class Observers: Sendable {
    private let registered = Locked<[@Sendable (UInt64) -> Void]>([])

    func add(_ observer: @escaping @Sendable (UInt64) -> Void) { registered.withLock { $0.append(observer) } }

    func notify(_ visibleEnd: UInt64) {
      for observer in registered.withLock({ $0 }) { observer(visibleEnd) }
    }
  }
}
