internal import Database

/// A statement of another part of the program that waits for the next transaction.
struct PendingWrite: Sendable {
  /// Runs within the transaction, on the thread `store`.
  var body: @Sendable (DatabaseConnection) throws(DatabaseError) -> Void
  /// Called after the commit, or with the reason why there was none; on the thread `store`.
  var completion: @Sendable (Result<Void, StoreError>) -> Void
}
