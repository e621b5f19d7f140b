internal import CSQLite

/// The present row of a query; valid only during the call that receives it.
@safe public struct DatabaseRow: ~Copyable {
  private let statement: OpaquePointer

  init(_ statement: OpaquePointer) { unsafe self.statement = unsafe statement }

  /// Whether a column, counted from 0, has no value.
  public func isNull(_ column: Int) -> Bool {
    unsafe sqlite3_column_type(statement, Int32(column)) == SQLITE_NULL
  }

  /// An integer; 0 for no value.
  public func integer(_ column: Int) -> Int64 { unsafe sqlite3_column_int64(statement, Int32(column)) }

  /// An integer; nil for no value.
  public func optionalInteger(_ column: Int) -> Int64? { isNull(column) ? nil : integer(column) }

  /// An unsigned integer that was stored by its bits.
  public func bits(_ column: Int) -> UInt64 { UInt64(bitPattern: integer(column)) }

  /// A floating-point number; 0 for no value.
  public func real(_ column: Int) -> Double { unsafe sqlite3_column_double(statement, Int32(column)) }

  /// A text; nil for no value.
  public func text(_ column: Int) -> String? {
    guard let start = unsafe sqlite3_column_text(statement, Int32(column)) else { return nil }
    let count = unsafe Int(sqlite3_column_bytes(statement, Int32(column)))
    return unsafe String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  }

  /// A copy of bytes; empty for no value.
  public func blob(_ column: Int) -> [UInt8] {
    guard let start = unsafe sqlite3_column_blob(statement, Int32(column)) else { return [] }
    let count = unsafe Int(sqlite3_column_bytes(statement, Int32(column)))
    return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: count))
  }

  /// The number of bytes of a text or of bytes.
  public func count(_ column: Int) -> Int { unsafe Int(sqlite3_column_bytes(statement, Int32(column))) }

  /// A value of any type; nil if it has more than a number of bytes.
  public func value(_ column: Int, atMost limit: Int) -> DatabaseValue? {
    switch unsafe sqlite3_column_type(statement, Int32(column)) {
    case SQLITE_NULL: DatabaseValue.null
    case SQLITE_INTEGER: .integer(integer(column))
    case SQLITE_FLOAT: .real(real(column))
    case SQLITE_BLOB: count(column) <= limit ? .blob(blob(column)) : nil
    default: count(column) <= limit ? .text(text(column)) : nil
    }
  }
}
