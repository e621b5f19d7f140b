/// Why and where ``JSON/parse(_:)`` rejects a text.
public struct JSONError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The line of the error, counted from 1.
  public let line: Int

  /// The column of the error in Unicode scalars, counted from 1.
  public let column: Int

  /// What is wrong.
  public let message: String

  /// `line:column: message`.
  public var description: String { "\(line):\(column): \(message)" }
}
