internal import CSQLite
internal import EventLoop

/// The deadline of a connection's statements, which SQLite's progress handler compares with the clock.
@safe final class DatabaseDeadline {
  /// Instructions of SQLite's virtual machine between two looks at the clock: some tens of microseconds.
  private static let instructions: Int32 = 4096

  /// Nanoseconds of CLOCK_MONOTONIC; `Int64.max` for none.
  private let value: UnsafeMutablePointer<Int64>

  init() {
    unsafe value = .allocate(capacity: 1)
    unsafe value.initialize(to: .max)
  }

  deinit { unsafe value.deallocate() }

  var nanoseconds: Int64? {
    get { unsafe value.pointee == .max ? nil : value.pointee }
    set { unsafe value.pointee = newValue ?? .max }
  }

  /// Installs the progress handler; the connection must not outlive this object.
  func install(on handle: OpaquePointer) {
    unsafe sqlite3_progress_handler(handle, Self.instructions, isPast, value)
  }
}

/// The progress handler; at file scope because a C function pointer cannot capture anything.
private func isPast(_ context: UnsafeMutableRawPointer?) -> Int32 {
  guard let limit = unsafe context?.load(as: Int64.self), limit != .max else { return 0 }
  return MonotonicInstant.now.nanoseconds >= limit ? 1 : 0
}
