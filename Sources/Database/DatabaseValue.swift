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

  /// Bytes, or no value.
  public static func blob(_ value: [UInt8]?) -> DatabaseValue { value.map { .blob($0) } ?? .null }

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
