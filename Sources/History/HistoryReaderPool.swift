internal import Database
internal import Dispatch
internal import EventLoop
internal import Locks

/// Read-only connections on a queue each, which are opened with their first query.
final class HistoryReaderPool: Sendable {
  private final class Reader: Sendable {
    let queue: DispatchQueue
    /// The connection and the generation of the files that it belongs to; used on the queue only.
    let connection = Locked<(DatabaseConnection, Int)?>(nil)

    init(_ number: Int) { queue = DispatchQueue(label: "history.\(number)", qos: .utility) }
  }

  private struct State {
    var waiting = [Int](repeating: 0, count: Limits.readers)
    /// Advances when the files are replaced.
    var generation = 0
    /// Whether no connection may open the database, until it is replaced.
    var isBlocked: Bool
    var isClosed = false
  }

  private let path: String
  private let readers: [Reader]
  private let state: Locked<State>

  /// - Parameters:
  ///   - path: the database.
  ///   - isBlocked: whether queries are refused until ``reopen()``.
  init(_ path: String, isBlocked: Bool = false) {
    self.path = path
    state = Locked(State(isBlocked: isBlocked))
    readers = (0..<Limits.readers).map(Reader.init)
  }

  /// Makes the next query of each reader open the files again.
  func reopen() {
    state.withLock { state in
      state.generation += 1
      state.isBlocked = false
    }
  }

  /// Refuses queries from now on.
  func close() { state.withLock { $0.isClosed = true } }

  /// Runs a query on the connection with the fewest waiting queries.
  func read<Value: Sendable>(
    _ query: @escaping @Sendable (DatabaseConnection) throws(DatabaseError) -> Value, within timeLimit: Duration,
    _ completion: @escaping @Sendable (Result<Value, StoreError>) -> Void
  ) {
    let deadline = MonotonicInstant.now.advanced(by: timeLimit)
    let reader = state.withLock { state -> Result<Int, StoreError> in
      if state.isClosed { return .failure(.closed) }
      if state.isBlocked { return .failure(.unavailable) }
      let number = state.waiting.indices.min { state.waiting[$0] < state.waiting[$1] } ?? 0
      guard state.waiting[number] < Limits.pendingReads / Limits.readers else { return .failure(.busy) }
      state.waiting[number] += 1
      return .success(number)
    }
    switch reader {
    case .failure(let error): completion(.failure(error))
    case .success(let number):
      readers[number].queue.async { [self] in
        let result = run(query, on: readers[number], deadline)
        state.withLock { $0.waiting[number] -= 1 }
        completion(result)
      }
    }
  }

  private func run<Value: Sendable>(
    _ query: (DatabaseConnection) throws(DatabaseError) -> Value, on reader: Reader, _ deadline: MonotonicInstant
  ) -> Result<Value, StoreError> {
    guard MonotonicInstant.now < deadline else { return .failure(.busy) }
    do throws(DatabaseError) {
      let connection = try connection(of: reader)
      connection.deadlineNanoseconds = deadline.nanoseconds
      defer { connection.deadlineNanoseconds = nil }
      // One state of the database for the whole query, however many statements it has.
      try connection.run("BEGIN")
      defer { _ = try? connection.run("ROLLBACK") }
      return .success(try query(connection))
    } catch {
      return .failure(error.isInterrupted ? .busy : .database(error))
    }
  }

  private func connection(of reader: Reader) throws(DatabaseError) -> DatabaseConnection {
    let generation = state.withLock(\.generation)
    if let (connection, made) = reader.connection.withLock({ $0 }), made == generation { return connection }
    let connection = try DatabaseConnection(path, .readOnly)
    try StoreSchema.configureReader(connection)
    reader.connection.withLock { $0 = (connection, generation) }
    return connection
  }
}
