/// Why and where ``JSON/parse(_:)`` rejects a text.
public struct JSONError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The line of the error, counted from 1.
  public let line: Int

  /// The column of the error in Unicode scalars, counted from 1.
  public let column: Int

  /// What is wrong.
  public let message: String

  /// Creates an error at a position; `line` and `column` count from 1.
  public init(line: Int, column: Int, message: String) {
    self.line = line
    self.column = column
    self.message = message
  }

  /// `line:column: message`.
  public var description: String { "\(line):\(column): \(message)" }
}
