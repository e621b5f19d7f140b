/// Why and where ``YAMLNode/parse(_:)-([UInt8])`` rejects a text.
public struct YAMLError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The line of the error, counted from 1.
  public let line: Int

  /// The column of the error in Unicode scalars, counted from 1.
  public let column: Int

  /// What is wrong, with a hint if there is one.
  public let message: String

  /// Creates an error at a position; `line` and `column` count from 1.
  public init(line: Int, column: Int, message: String) {
    self.line = line
    self.column = column
    self.message = message
  }

  /// `line:column: message`, a form that editors link to.
  public var description: String { "\(line):\(column): \(message)" }

  init(at position: YAMLPosition, _ message: String) {
    self.init(line: position.line, column: position.column, message: message)
  }
}
