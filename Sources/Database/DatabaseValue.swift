internal import CSQLite

/// A value of a column or of a parameter.
public enum DatabaseValue: Hashable, Sendable {
  /// No value.
  case null
  /// A 64-bit integer.
  case integer(Int64)
  /// A floating-point number.
  case real(Double)
  /// A text in UTF-8.
  case text(String)
  /// Bytes.
  case blob([UInt8])

  /// An integer, or no value.
  public static func integer(_ value: Int64?) -> DatabaseValue { value.map { .integer($0) } ?? .null }

  /// A text, or no value.
  public static func text(_ value: String?) -> DatabaseValue { value.map { .text($0) } ?? .null }

  /// The bits of an unsigned integer; SQLite has no unsigned integers.
  public static func bits(_ value: UInt64) -> DatabaseValue { .integer(Int64(bitPattern: value)) }
}

extension DatabaseValue: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral, ExpressibleByNilLiteral {
  /// An integer.
  public init(integerLiteral value: Int64) { self = .integer(value) }
  /// A text.
  public init(stringLiteral value: String) { self = .text(value) }
  /// No value.
  public init(nilLiteral: ()) { self = .null }
}

extension DatabaseValue {
  /// Sets a parameter of a statement; returns SQLite's code.
  func bind(to statement: OpaquePointer, _ index: Int32) -> Int32 {
    switch self {
    case .null: unsafe sqlite3_bind_null(statement, index)
    case .integer(let value): unsafe sqlite3_bind_int64(statement, index, value)
    case .real(let value): unsafe sqlite3_bind_double(statement, index, value)
    case .text(var text):
      text.withUTF8 { bytes in
        unsafe bytes.withMemoryRebound(to: CChar.self) { characters in
          unsafe CSQLite_bind_text(statement, index, characters.baseAddress, UInt64(characters.count))
        }
      }
    case .blob(let bytes):
      unsafe bytes.withUnsafeBytes { unsafe CSQLite_bind_blob(statement, index, $0.baseAddress, UInt64($0.count)) }
    }
  }
}
