internal import Locks

/// What a database must have that takes the place of another one while the service runs.
struct StoreContents {
  /// The rows of a damaged file.
  var salvaged = SalvagedRows()
  /// Write what is in force, after these rows: states, targets, positions.
  var writers: [WriterMaintenanceTasks.Body] = []
}

/// Statements of other parts of the program that write what is in force to a file that takes the place of another one.
final class StoreContentWriters: Sendable {
  private let bodies = Locked<[WriterMaintenanceTasks.Body]>([])

  func add(_ body: @escaping WriterMaintenanceTasks.Body) { bodies.withLock { $0.append(body) } }
  var all: [WriterMaintenanceTasks.Body] { bodies.withLock(\.self) }
}
