internal import CSQLite

/// The pages of the write-ahead log, which SQLite reports after each commit.
@safe final class DatabaseLogPages {
  private let value: UnsafeMutablePointer<Int32>

  init() {
    unsafe value = .allocate(capacity: 1)
    unsafe value.initialize(to: 0)
  }

  deinit { unsafe value.deallocate() }

  var count: Int { unsafe Int(value.pointee) }

  /// Sets the count to 0: the next commit starts the log again.
  func reset() { unsafe value.pointee = 0 }

  /// Installs the hook, which replaces SQLite's automatic checkpoints; the connection must not outlive this object.
  func install(on handle: OpaquePointer) { unsafe sqlite3_wal_hook(handle, noteCommit, value) }
}

/// The hook; at file scope because a C function pointer cannot capture anything.
private func noteCommit(
  _ context: UnsafeMutableRawPointer?, _: OpaquePointer?, _: UnsafePointer<CChar>?, _ pages: Int32
) -> Int32 {
  unsafe context?.storeBytes(of: pages, as: Int32.self)
  return SQLITE_OK
}
